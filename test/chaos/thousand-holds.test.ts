// A thousand callers at once on one account: money that is spent twice, or that nobody gets back, if these failed.
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { expire } from "../../src/scripts/quota/expire.ts";
import { run } from "../../src/scripts/run.ts";
import { useBooks } from "../support/books.ts";
import { ledgerVerbsOf } from "../support/ledger-http.ts";
import { keys, storeAt, useRedis } from "../support/redis.ts";
import { ADMIN_KEY, type Answer, INTERNAL_KEY, many, variables } from "../support/worker.ts";
import { type Running, startUpstashProcess, startWorkerd } from "../support/workerd.ts";

/** A busy machine may take its time; what counts here is what is answered. */
const PATIENCE = { timeout: 60_000 };
const CALLERS = 1000;
const ADMITTED = 37;
const AMOUNT = 1000;

const redis = useRedis();
useBooks(redis);
let double: Awaited<ReturnType<typeof startUpstashProcess>>;
let worker: Running;

beforeAll(async () => {
  double = await startUpstashProcess(redis.server.port, { guard: false });
  const patient = { REDIS_TIMEOUT_MS: "60000", REQUEST_DEADLINE_MS: "60000" };
  worker = await startWorkerd(variables(double.url, double.token, patient));
});
afterAll(async () => {
  await worker?.stop();
  await double?.stop();
});

async function call(
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: unknown,
): Promise<Answer> {
  const init = { method, headers: { ...headers, "content-type": "application/json" } };
  const reply = await fetch(
    worker.url + path,
    body === undefined ? init : { ...init, body: JSON.stringify(body) },
  );
  return { status: reply.status, headers: reply.headers, body: await reply.json() };
}
const { open, reserve, end, refund, balances, hold } = ledgerVerbsOf({
  call,
  admin: (method, path, body, headers) =>
    call(method, `/api/admin${path}`, { authorization: `Bearer ${ADMIN_KEY}`, ...headers }, body),
  internal: (path, body) => call("POST", `/api/internal${path}`, { "x-internal-key": INTERNAL_KEY }, body),
});

/** How many say what. */
const tally = <T>(list: readonly T[], said: (one: T) => string) =>
  Object.fromEntries(
    Object.entries(Object.groupBy(list, said)).map(([word, found]) => [word, found?.length ?? 0]),
  );
const code = ({ status, body }: Answer) => `${status} ${body.code ?? body.state ?? "done"}`;
const account = async () => (await balances()).body.account;

/** As the sweeper ends it. */
function expireNow(hold_id: string) {
  const place = { ...keys.tenant("acme"), hold_key: keys.hold("acme", hold_id) };
  const store = storeAt(double.url, double.token, "upstash", 60_000);
  return run(store, expire, place, { tenant: "acme", hold_id, keep_ms: 3_600_000 });
}

beforeEach(async () => {
  await call("POST", "/api/admin/cell", { authorization: `Bearer ${ADMIN_KEY}` });
});

test(
  "1,000 reserve at once what is there for 37: 37 hold it; then 1,000 end and refund them at once: one end each",
  PATIENCE,
  async () => {
    await open(ADMITTED * AMOUNT + AMOUNT - 1);
    const asked = await many(CALLERS, (i) => reserve(`h${i}`, AMOUNT, { ttl_seconds: 600 }));
    expect(tally(asked, code)).toEqual({
      "201 open": ADMITTED,
      "402 quota_exhausted": CALLERS - ADMITTED,
    });
    expect(await account()).toEqual({ available: AMOUNT - 1, held: ADMITTED * AMOUNT, spent: 0, lapsed: 0 });
    const held = asked.flatMap(({ status, body }) => (status === 201 ? [body.hold_id as string] : []));

    const answers = await many(CALLERS, async (i) => {
      const id = held[i % ADMITTED] as string;
      const verb = Math.floor(i / ADMITTED) % 3;
      if (verb === 0) return { id, what: `settle ${code(await end(id, "settle", { amount: 600 }))}` };
      if (verb === 1) return { id, what: `void ${code(await end(id, "void"))}` };
      return { id, what: `refund ${code(await refund(id, "r1", 100))}` };
    });
    let spent = 0;
    for (const id of held) {
      const own = answers.filter((answer) => answer.id === id).map(({ what }) => what);
      const settled = own.includes("settle 200 settled");
      const wrong = settled
        ? ["void 200 voided", "settle 409 hold_closed"]
        : ["settle 200 settled", "void 409 hold_closed", "refund 200 done"];
      expect([id, own.filter((what) => wrong.includes(what))]).toEqual([id, []]);
      if (settled) spent += own.includes("refund 200 done") ? 500 : 600;
    }
    const said = new Set(answers.map(({ what }) => what.replace(/ .*/, "")));
    expect(said).toEqual(new Set(["settle", "void", "refund"]));
    const funds = ADMITTED * AMOUNT + AMOUNT - 1;
    expect(await account()).toEqual({ available: funds - spent, held: 0, spent, lapsed: 0 });
  },
);

test(
  "250 overdue holds, each settled, voided, expired and refunded at the same moment: each ends once, nothing is lost",
  PATIENCE,
  async () => {
    const HOLDS = CALLERS / 4;
    await open(HOLDS * AMOUNT);
    const opened = await many(HOLDS, (i) => reserve(`h${i}`, AMOUNT, { ttl_seconds: 1 }));
    expect(tally(opened, code)).toEqual({ "201 open": HOLDS });
    await sleep(1_000); // all are overdue
    const order = ["settle", "void", "expire", "refund"] as const;
    const answers = await many(CALLERS, async (i) => {
      const id = `h${i % HOLDS}`;
      const verb = order[(Math.floor(i / HOLDS) + i) % order.length];
      if (verb === "settle") return { id, verb, said: code(await end(id, "settle", { amount: 700 })) };
      if (verb === "void") return { id, verb, said: code(await end(id, "void")) };
      if (verb === "refund") return { id, verb, said: code(await refund(id, "r1", 100)) };
      return { id, verb, said: (await expireNow(id)).kind as string };
    });
    const totals = { spent: 0, settled: 0, voided: 0 };
    await many(HOLDS, async (i) => {
      const own = Object.fromEntries(
        answers.filter(({ id }) => id === `h${i}`).map(({ verb, said }) => [verb, said]),
      );
      const { body } = await hold(`h${i}`);
      const refunded = own.refund === "200 done" ? 100 : 0;
      expect([body.state, body.charged, body.refunded]).toEqual(
        own.void === "200 voided" ? ["voided", 0, 0] : ["settled", 700, refunded],
      );
      expect(own.settle).toBe(body.state === "settled" ? "200 settled" : "409 hold_closed");
      if (body.state === "voided") expect([own.expire, refunded]).toEqual(["closed", 0]);
      totals.spent += body.charged - refunded;
      totals[body.state as "settled" | "voided"]++;
    });
    expect(totals.settled + totals.voided).toBe(HOLDS);
    const { spent } = totals;
    expect(await account()).toEqual({ available: HOLDS * AMOUNT - spent, held: 0, spent, lapsed: 0 });
  },
);

test("1,000 with one hold_id hold once", PATIENCE, async () => {
  await open(AMOUNT * CALLERS);
  const asked = await many(CALLERS, () => reserve("h1", AMOUNT));
  expect(tally(asked, code)).toEqual({ "201 open": 1, "200 open": CALLERS - 1 });
  expect(await account()).toMatchObject({ held: AMOUNT });
});
