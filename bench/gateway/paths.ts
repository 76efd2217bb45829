// Every path through the scripts of a call that costs its own number of commands, and what it may cost.
import type { Path } from "../lib/commands.ts";
import { granted, idsOf } from "../lib/pool.ts";
import { AMOUNT, expecting, PLENTY } from "../quota/ledger.ts";
import { type Asked, type Cell, type Ended, newCallId } from "./calls.ts";

type Prepare = Path<Cell>["prepare"];
type Call = Path<Cell>["call"];

/** Of the design. A refusal may cost what an admission may. */
const ADMIT = 9;
const FIFTH = 10;
const RECLAIMS = 13;
const RENEW = 6;
const GROWS = RENEW + 2;
const FINISH = 10;

const SOON = 1; // ms: over before the call
const SHA256 = "a".repeat(64);
const many = idsOf(32);
const five = many.slice(0, 5);
const four = many.slice(0, 4);
const one = many.slice(0, 1);
const [a = ""] = one;
const fifth = five[4] ?? "";
const callOf = (id: string) => `call-${id}`;

const all =
  (...steps: Prepare[]): Prepare =>
  async (cell) => {
    for (const step of steps) await step(cell);
  };

const tenant = (terms: object = {}): Prepare =>
  all(
    ({ ledger }) => ledger.put(),
    ({ ledger, calls }) => ledger.putSub(calls.sub_account, terms),
  );
/** `purse` "" is the account. */
const funds =
  (amount: number, purse?: ""): Prepare =>
  ({ ledger, calls }) =>
    ledger.adjust(purse ?? calls.sub_account, `funds-${purse ?? "sub"}`, amount);
const add =
  (ids: readonly string[], capacity = 1): Prepare =>
  ({ pool }) =>
    pool.fill(ids, capacity);
const rich = all(tenant(), funds(PLENTY));
const ready = all(rich, add(many));

const open =
  (id = a, how: Asked = {}): Prepare =>
  ({ calls }) =>
    expecting("admitted", calls.admit(callOf(id), [id], how));
/** Credentials of capacity 1, each with a call of its own. */
const taken = (ids: readonly string[], how: Asked = {}) => all(add(ids), ...ids.map((id) => open(id, how)));
const held = all(rich, taken(one));
const finished = all(held, ({ calls }) => calls.finish(callOf(a), a));
const leftBehind = (count: number) =>
  all(add(["other"], count), async ({ pool }) => {
    for (let i = 0; i < count; i++) await granted(pool, `old-${i}`, ["other"], SOON);
  });
const tripped: Prepare = async ({ pool }) => {
  await pool.fill(one, 10);
  for (let i = 0; i < 10; i++) await granted(pool, `failed-${i}`, one);
  for (let i = 0; i < 10; i++) await pool.release(`failed-${i}`, a, "upstream_error");
};

const ask =
  (candidates = many, id: string = newCallId(), how: Asked = {}): Call =>
  ({ calls }) =>
    calls.admit(id, [...candidates], how);
const renew =
  (amount?: number): Call =>
  ({ calls }) =>
    calls.renew(callOf(a), a, amount);
const end =
  (how: Ended = {}): Call =>
  ({ calls }) =>
    calls.finish(callOf(a), a, how);

const pathsOf =
  (verb: string) =>
  (path: string, bound: number | undefined, kind: string, prepare: Prepare, call: Call): Path<Cell> => ({
    ...{ verb, path, bound, kind, prepare, call },
  });
const [admit, refused, renewed, ended] = ["admit", "refused", "renew", "finish"].map(pathsOf) as [
  ReturnType<typeof pathsOf>,
  ReturnType<typeof pathsOf>,
  ReturnType<typeof pathsOf>,
  ReturnType<typeof pathsOf>,
];

const token: Prepare = ({ ledger, calls }) => ledger.addToken(calls.sub_account, SHA256);
const withToken = ask(many, newCallId(), { token: SHA256 });
const poor = (amount: number) => all(tenant(), funds(amount));

export const PATHS: readonly Path<Cell>[] = [
  admit("one of the first four is free", ADMIT, "admitted", ready, ask()),
  admit("with a token", ADMIT, "admitted", all(ready, token), withToken),
  admit("borrowed", ADMIT, "admitted", all(poor(9), funds(PLENTY, ""), add(many)), ask()),
  admit("16 models", ADMIT, "admitted", ready, ask(many, newCallId(), { items: 16 })),
  admit("the fifth is free", FIFTH, "admitted", all(rich, taken(four), add([fifth])), ask(five)),
  admit("reclaims", RECLAIMS, "admitted", all(rich, taken(five, { term_ms: SOON })), ask(five)),
  admit("replayed", ADMIT, "admitted", all(held, add(one, 2)), ask(one, callOf(a))),
  admit("replayed, all full", FIFTH, "admitted", all(rich, taken(five)), ask(five, callOf(a))),
  admit("replayed, and over", ADMIT, "closed", all(finished, add(one, 2)), ask(one, callOf(a))),

  refused("no such tenant", ADMIT, "absent", add(one), ask(one)),
  refused("no such pool", ADMIT, "no_pool", rich, ask(one)),
  refused("not its token", ADMIT, "unauthenticated", ready, withToken),
  refused("out of funds", ADMIT, "exhausted", all(tenant(), add(many)), ask()),
  refused(
    "too many open",
    ADMIT,
    "concurrency_limited",
    all(tenant({ max_concurrent: 1 }), funds(PLENTY), taken(one)),
    ask(one),
  ),
  refused("32 are full", FIFTH, "no_capacity", all(rich, taken(many)), ask()),
  refused("reclaims 64 in vain", RECLAIMS, "reclaim_due", all(rich, leftBehind(64), taken(five)), ask(five)),
  refused("the breaker is open", ADMIT, "breaker_open", all(rich, tripped), ask(one)),

  renewed("renewed", RENEW, "renewed", held, renew()),
  renewed("grows", GROWS, "renewed", held, renew(2 * AMOUNT)),
  renewed("may not grow", GROWS, "exhausted", all(poor(AMOUNT), taken(one)), renew(2 * AMOUNT)),
  renewed("lease lost", RENEW, "lease_lost", all(rich, taken(one, { term_ms: SOON })), renew()),
  renewed("ended before", RENEW, "closed", finished, renew()),

  ended("settled", FINISH, "finished", held, end()),
  ended("more, and in debt", FINISH, "finished", all(poor(AMOUNT), taken(one)), end({ amount: 2 * AMOUNT })),
  ended("voided", FINISH, "finished", held, end({ how: "voided" })),
  ended("upstream failed", FINISH, "finished", held, end({ outcome: "upstream_error" })),
  ended("lease lost", FINISH, "finished", all(rich, taken(one, { term_ms: SOON })), end()),
  ended("replayed", FINISH, "finished", finished, end()),
  ended("in another way before", FINISH, "closed", finished, end({ how: "voided" })),

  pathsOf("undo")("undone", undefined, "undone", held, ({ calls }) => calls.undo(callOf(a))),
];
