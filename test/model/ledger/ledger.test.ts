// Random histories of a ledger agree with the model, and the raw keys and the journal with both, after every step.
// RUNS=20000 for longer; SEED=… repeats what a run printed.
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Database, startDatabase } from "../database.ts";
import { Caller } from "./caller.ts";
import { type History, history, type Operation, SUBS, TENANTS } from "./operations.ts";
import { WATCH } from "./view.ts";
import { seen, World } from "./world.ts";

const RUNS = Number(process.env.RUNS ?? 2_000);
const SEED = Number(process.env.SEED ?? Date.now() % 2 ** 31);
const RUN_MS = 150; // a bound for machines that do something else, too

let database: Database;
beforeAll(async () => {
  database = await startDatabase(WATCH);
});
afterAll(() => database.stop());

/** The tenants with their sub-accounts, and something in the first one's purses. */
function opening({ terms, funds, second }: History): Operation[] {
  const made = { before: "right", kind: "config", same: false } as const;
  const [tenant = "", other = ""] = TENANTS;
  const [sub = ""] = SUBS;
  const grant = { verb: "adjust", tenant, how: "grant", size: "given", owing: false } as const;
  return [
    ...(second ? [tenant, other] : [tenant]).flatMap((tenant): Operation[] => [
      { verb: "put", tenant, config: { status: "active" }, ...made },
      ...SUBS.map((sub, i) => ({
        verb: "putSub" as const,
        tenant,
        sub,
        terms: terms[i] ?? terms[0],
        ...made,
      })),
    ]),
    { ...grant, sub: "", op_id: "start-1", amount: funds.account },
    { ...grant, sub, op_id: "start-2", amount: funds.sub },
  ];
}

async function step(world: World, caller: Caller, op: Operation) {
  const { ledger } = world;
  if (op.verb === "wait") return world.wait(op.ms);
  if (op.verb === "until") {
    const end_ms = ledger.ends(op.end)[op.pick] ?? ledger.now_ms;
    return world.wait(Math.max(0, end_ms + op.off_ms - ledger.now_ms));
  }
  if (op.verb === "expire" && op.wait) await world.wait(caller.dueIn(op));
  for (const call of caller.of(op)) await world.play(call);
}

/** Answers that the histories must have met, or they prove little. */
const MET = `reserve reserved, reserve reserved borrowed, reserve reserved token, reserve reserved replayed,
  reserve reserved huge, reserve conflict, reserve absent, reserve not_found, reserve unauthenticated, reserve no_pool,
  reserve breaker_open, reserve frozen tenant, reserve frozen sub_account, reserve concurrency_limited,
  reserve exhausted debt, reserve exhausted sub_account, reserve exhausted sub_account partly,
  reserve exhausted account, reserve exhausted account partly,
  reserve closed settled, reserve closed voided, reserve closed expired,
  extend extended, extend frozen tenant, extend frozen sub_account, extend exhausted debt,
  extend exhausted sub_account, extend exhausted account partly, extend absent, extend not_found remade,
  extend closed settled, extend closed voided, extend closed expired,
  settle settled, settle settled huge, settle settled debt, settle settled late, settle settled owing,
  settle settled replayed, settle closed settled, settle closed voided, settle mismatch, settle unsafe, settle absent, settle not_found remade,
  void voided, void voided replayed, void closed settled, void closed expired, void absent, void not_found remade,
  expire expired, expire expired charged, expire expired debt, expire not_due, expire closed settled,
  expire closed voided, expire closed expired, expire absent, expire not_found remade,
  refund refunded, refund refunded huge, refund refunded owing, refund refunded replayed, refund conflict, refund too_much,
  refund not_settled open, refund not_settled voided, refund not_settled expired, refund absent, refund not_found remade,
  adjust adjusted, adjust adjusted huge, adjust adjusted debt, adjust adjusted replayed, adjust conflict,
  adjust insufficient, adjust unsafe, adjust absent, adjust not_found,
  put created, put updated, put unchanged, put exists, put stale, put absent, putSub created, putSub updated,
  putSub unchanged, putSub exists, putSub stale, putSub absent, putSub not_found,
  remove removed, remove held, remove absent, removeSub removed, removeSub held, removeSub absent, removeSub not_found,
  addToken added, addToken named, addToken absent, addToken not_found,
  revokeToken revoked, revokeToken absent, revokeToken not_found`.split(/,\s+/);

test(`${RUNS} random histories of a ledger, seed ${SEED}`, { timeout: 60_000 + RUNS * RUN_MS }, async () => {
  console.log(`model of the ledger: ${RUNS} runs, again with SEED=${SEED} RUNS=${RUNS}`);
  const agrees = fc.asyncProperty(history, async (one) => {
    const world = new World(database);
    await world.start();
    const caller = new Caller(world.ledger, one.unit);
    for (const op of [...opening(one), ...one.operations]) await step(world, caller, op);
  });
  await fc.assert(agrees, { numRuns: RUNS, seed: SEED, unbiased: true });
  if (RUNS >= 2_000) expect(MET.filter((answer) => !seen[answer])).toEqual([]);
});
