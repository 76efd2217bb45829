// Every path through the scripts of a hold that costs its own number of commands, and what it may cost.
import type { Evaluator } from "../../src/scripts/evaluator.ts";
import type { Path } from "../lib/commands.ts";
import { granted, type Pool, poolOf } from "../lib/pool.ts";
import { AMOUNT, type Asked, expecting, type Ledger, ledgerOf, PLENTY, USED } from "./ledger.ts";

interface Cell {
  readonly ledger: Ledger;
  readonly pool: Pool;
}
type Prepare = Path<Cell>["prepare"];
type Call = Path<Cell>["call"];

/** What a path is walked on: a tenant and a pool in one cell. */
export const cellOf = (store: Evaluator, cell: string): Cell => ({
  ledger: ledgerOf(store, cell),
  pool: poolOf(store, cell),
});

/** Of the design. A pool that is named is read too: one more. */
const RESERVE = 5;
const REFUSED = 4;
const END = 7;
const WITH_POOL = 1;

const SUB = "team";
const HOLD = "hold-1";
const SHA256 = "a".repeat(64);
const SOON = 1; // ms: over before the call

const all =
  (...steps: Prepare[]): Prepare =>
  async (cell) => {
    for (const step of steps) await step(cell);
  };

const tenant = (status = "active", terms: object = {}): Prepare =>
  all(
    ({ ledger }) => ledger.put(status),
    ({ ledger }) => ledger.putSub(SUB, terms),
  );
const funds =
  (amount: number, sub_account = SUB): Prepare =>
  ({ ledger }) =>
    ledger.adjust(sub_account, `funds-${sub_account}`, amount);
const rich = all(tenant(), funds(PLENTY));
const open =
  (how: Asked = {}): Prepare =>
  ({ ledger }) =>
    expecting("reserved", ledger.reserve(SUB, HOLD, AMOUNT, how));
const held = all(rich, open());
const settled = all(held, ({ ledger }) => ledger.settle(HOLD));
const voided = all(held, ({ ledger }) => ledger.void(HOLD));
const over = all(rich, open({ ttl_ms: SOON }));
const expired = all(over, ({ ledger }) => ledger.expire(HOLD));
const indebted = all(tenant(), funds(AMOUNT), open(), ({ ledger }) => ledger.settle(HOLD, 2 * AMOUNT));
const credential: Prepare = ({ pool }) => pool.put("key-1", 10);
const tripped: Prepare = async ({ pool }) => {
  await credential({ pool } as Cell);
  for (let i = 0; i < 10; i++) await granted(pool, `lease-${i}`, ["key-1"]);
  for (let i = 0; i < 10; i++) await pool.release(`lease-${i}`, "key-1", "upstream_error");
};

const ask =
  (hold_id = "new", how: Asked = {}, amount = AMOUNT): Call =>
  ({ ledger }) =>
    ledger.reserve(SUB, hold_id, amount, how);
const askPool: Call = ({ ledger, pool }) => ledger.reserve(SUB, "new", AMOUNT, { pool });
const settle: Call = ({ ledger }) => ledger.settle(HOLD);
const end: Call = ({ ledger }) => ledger.void(HOLD);
const expire: Call = ({ ledger }) => ledger.expire(HOLD);
const extend =
  (amount = 0): Call =>
  ({ ledger }) =>
    ledger.extend(HOLD, amount);
const refund =
  (amount: number): Call =>
  ({ ledger }) =>
    ledger.refund(HOLD, "op-1", amount);
const adjust =
  (how: "grant" | "deduct", op_id = "op-1", amount = AMOUNT): Call =>
  ({ ledger }) =>
    ledger.adjust(SUB, op_id, amount, how);
const refunded = all(settled, ({ ledger }) => ledger.refund(HOLD, "op-1", USED));

const path = (
  verb: string,
  name: string,
  bound: number,
  kind: string,
  prepare: Prepare,
  call: Call,
): Path<Cell> => ({ verb, path: name, bound, kind, prepare, call });
const refused = (name: string, kind: string, prepare: Prepare, call = ask()) =>
  path("refused", name, REFUSED, kind, prepare, call);
const replayed = (name: string, kind: string, prepare: Prepare, call = ask(HOLD)) =>
  path("replayed", name, REFUSED, kind, prepare, call);

export const PATHS: readonly Path<Cell>[] = [
  path("reserve", "the sub-account's own", RESERVE, "reserved", rich, ask()),
  path("reserve", "borrowed", RESERVE, "reserved", all(tenant(), funds(9, ""), funds(AMOUNT - 9)), ask()),
  path(
    "reserve",
    "with a token",
    RESERVE,
    "reserved",
    all(rich, ({ ledger }) => ledger.addToken(SUB, SHA256)),
    ask("new", { token: SHA256 }),
  ),
  path("reserve", "16 models", RESERVE, "reserved", rich, ask("new", { items: 16 })),
  path("reserve", "a pool is named", RESERVE + WITH_POOL, "reserved", all(rich, credential), askPool),

  refused("no such tenant", "absent", async () => {}),
  refused("no such sub-account", "not_found", ({ ledger }) => ledger.put()),
  refused("not its token", "unauthenticated", rich, ask("new", { token: SHA256 })),
  refused("frozen", "frozen", tenant("frozen")),
  refused(
    "too many open",
    "concurrency_limited",
    all(tenant("active", { max_concurrent: 1 }), funds(PLENTY), open()),
  ),
  refused("out of funds", "exhausted", tenant()),
  refused("in debt", "exhausted", indebted),
  path("refused", "the breaker is open", REFUSED + WITH_POOL, "breaker_open", all(rich, tripped), askPool),
  path("refused", "no such pool", REFUSED + WITH_POOL, "no_pool", rich, askPool),

  replayed("open", "reserved", held),
  replayed("open, the funds gone since", "reserved", all(tenant(), funds(AMOUNT), open())),
  replayed("ended", "closed", settled),
  replayed("another amount", "conflict", held, ask(HOLD, {}, AMOUNT + 1)),

  path("settle", "less than held", END, "settled", held, settle),
  path("settle", "more, and in debt", END, "settled", all(tenant(), funds(AMOUNT), open()), ({ ledger }) =>
    ledger.settle(HOLD, 2 * AMOUNT),
  ),
  path("settle", "late", END, "settled", expired, settle),
  path("settle", "replayed", END, "settled", settled, settle),
  path("settle", "void before", END, "closed", voided, settle),
  path("settle", "no such hold", END, "not_found", rich, settle),
  path("void", "voided", END, "voided", held, end),
  path("void", "replayed", END, "voided", voided, end),
  path("expire", "expired", END, "expired", over, expire),
  path("expire", "not due", END, "not_due", held, expire),
  path("extend", "more time", END, "extended", held, extend()),
  path("extend", "more held", END, "extended", held, extend(2 * AMOUNT)),
  path("extend", "out of funds", END, "exhausted", all(tenant(), funds(AMOUNT), open()), extend(2 * AMOUNT)),
  path("refund", "refunded", END, "refunded", settled, refund(USED)),
  path("refund", "replayed", END, "refunded", refunded, refund(USED)),
  path("refund", "too much", END, "too_much", settled, refund(AMOUNT)),
  path("adjust", "granted", END, "adjusted", rich, adjust("grant")),
  path("adjust", "deducted", END, "adjusted", rich, adjust("deduct")),
  path("adjust", "replayed", END, "adjusted", rich, adjust("grant", `funds-${SUB}`, PLENTY)),
  path("adjust", "not enough there", END, "insufficient", tenant(), adjust("deduct")),
];
