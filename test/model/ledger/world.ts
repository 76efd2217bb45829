// One history: each call is made of the scripts and of the model, and both must say and leave the same.
import assert from "node:assert/strict";
import { defaultsOf, limitsOf } from "../../../src/pools/settings.ts";
import { ledgerOf, type Ledger as Verbs } from "../../support/ledger.ts";
import { keys } from "../../support/redis.ts";
import type { Database } from "../database.ts";
import { audit } from "./audit.ts";
import type { Call } from "./calls.ts";
import { Journal, pursesOf } from "./journal.ts";
import { type Hold, Ledger } from "./model.ts";
import { TENANTS } from "./operations.ts";
import type { Reply } from "./outcome.ts";
import { made, meant } from "./verbs.ts";
import { HOLD_KEYS, OP_KEYS, type View, viewOf } from "./view.ts";

/** How often each answer was seen, over all histories: a generator that misses one proves nothing about it. */
export const seen: Record<string, number> = {};

/** An answer, and what was special about it. */
function note(call: Call, reply: Reply, before: Hold | undefined) {
  const { kind, scope, what, state, replayed, debt, available, funding } = reply;
  const answer = [call.verb, kind, scope ?? what ?? state, replayed && "replayed"].filter(Boolean).join(" ");
  const huge = call.verb === "reserve" ? Number(reply.amount) : "amount" in call ? call.amount : 0;
  const owed = kind === "expired" && before !== undefined && Number(reply.charged) > Number(before.amount);
  // What was owed came back, and the account, which had paid too, had to wait for the rest.
  const owing = !replayed && before !== undefined && before.owed > 0n && before.paid.account > 0n;
  const back = kind === "refunded" || (kind === "settled" && Number(reply.charged) < Number(before?.charged));
  const special = {
    owing: owing && back,
    late: kind === "settled" && !replayed && before?.state === "expired",
    debt: !replayed && (Number(debt) > 0 || owed),
    borrowed: call.verb === "reserve" && JSON.stringify(funding ?? []).includes('"account"'),
    partly: kind === "exhausted" && Number(available) > 0,
    token: call.verb === "reserve" && kind === "reserved" && call.token !== "",
    charged: kind === "expired" && Number(reply.charged) > 0,
    remade: kind === "not_found" && before !== undefined,
    huge: huge > 2 ** 51,
  };
  const marks = Object.entries(special).flatMap(([mark, is]) => (is ? [`${answer} ${mark}`] : []));
  for (const one of [answer, ...marks]) seen[one] = (seen[one] ?? 0) + 1;
}

const settings = defaultsOf("default");
const limits = {
  up: limitsOf(settings),
  shut: limitsOf({ ...settings, breaker: { ...settings.breaker, mode: "open" } }),
};
/** Two pools that a reserve may name: the breaker of one lets it through, that of the other does not. */
const POOLS = Object.entries(limits).map(([pool, text]) => [
  "HSET",
  keys.pool("openai", pool).pool_key,
  "@limits",
  text,
]);
/** Keys that the ledger's verbs never write: the clock, and the pools. */
const OTHERS = 1 + POOLS.length;
export class World {
  readonly ledger = new Ledger(TENANTS);
  private readonly database: Database;
  private readonly verbs: Map<string, Verbs>;
  private readonly journal = new Journal();
  private view!: View;

  constructor(database: Database) {
    this.database = database;
    this.verbs = new Map(TENANTS.map((name) => [name, ledgerOf(() => database.evaluators[64], name)]));
  }

  private clock = () => ["SET", "test:now_ms", String(this.ledger.now_ms)];

  async start() {
    await this.database.change(["FLUSHALL"], this.clock(), ...POOLS);
    this.look();
  }

  async play(call: Call) {
    const { ledger } = this;
    const verbs = this.verbs.get(call.tenant);
    assert(verbs);
    const record = "hold" in call ? ledger.records.get(ledger.keyOf(call.tenant, call.hold)) : undefined;
    const hold = record && { ...record };
    const before = pursesOf(ledger, ledger.tenant(call.tenant));
    const { reply, entry } = meant(ledger, call);
    assert.deepEqual(await made(verbs, call), reply, `the answer to ${JSON.stringify(call)}`);
    note(call, reply, hold);
    if (entry) entry.tenant.seq++;
    this.view = viewOf(this.database.watched());
    if (entry) this.journal.check(ledger, entry, before, this.view);
    this.look();
  }

  private look() {
    this.view = viewOf(this.database.watched());
    audit(this.ledger, this.view, this.journal.entries, OTHERS);
    this.journal.addsUp(this.view);
  }

  /** Moves the clock; records whose end has passed go, as Redis would let them go. */
  async wait(ms: number) {
    const { ledger } = this;
    ledger.now_ms += ms;
    const over = (records: Map<string, { kept_until_ms: number }>) =>
      [...records].filter(([, { kept_until_ms: end }]) => end > 0 && end <= ledger.now_ms).map(([id]) => id);
    const [holds, ops] = [over(ledger.records), over(ledger.ops)];
    for (const id of holds) ledger.records.delete(id);
    for (const id of ops) ledger.ops.delete(id);
    const gone = [...holds.map((id) => HOLD_KEYS[id] ?? ""), ...ops.map((id) => OP_KEYS[id] ?? "")];
    await this.database.change(this.clock(), ...(gone.length > 0 ? [["DEL", ...gone]] : []));
    this.look();
  }
}
