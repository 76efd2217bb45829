// What a history of the ledger is made of: one arbitrary per verb, with few ids and few amounts, so that they collide often.
import fc from "fast-check";
import { ADJUSTMENTS } from "../../../src/scripts/quota/adjust.ts";

/** Two tenants of one shard: their holds are due in one set, and their entries are in one journal. */
export const TENANTS = ["acme", "acme.2"];
/** Number-like ones among the names, since Lua would compare them as numbers if it read them as such. */
export const SUBS = ["app", "1e5"];
export const HOLDS = [...Array.from({ length: 14 }, (_, i) => `h${i}`), "0x10", "1e5"];
const GIVEN = ["o1", "o2", "o3", "o4", "o5", "1e5"];
const BIRTHS = ["made-1", "made-2", "made-3", "made-4"];
export const OPS = [...GIVEN, ...BIRTHS, "start-1", "start-2"];
const MODELS = ["m1", "m2", 'm "2"\\ é'];
const METADATA = ["", "", '{"ticket":7}', "two\nlines %s\n"];

type Values<A> = A extends fc.Arbitrary<infer T> ? T : never;
const number = (...all: number[]) => fc.constantFrom(...all);
const usually = <T>(usual: T, ...rare: T[]) =>
  fc.oneof({ weight: 5, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...rare) });
const rarely = <T>(usual: T, rare: T) => fc.constantFrom(...Array<T>(7).fill(usual), rare);
const tenant = usually("acme", "acme.2");
const sub = usually("app", "1e5");
const place = { tenant, sub };
/** In units of the history. */
const amount = number(0, 1, 5, 5, 10, 10, 20, 30, 60);
const more = fc.constantFrom(1, 5, 20, 60);
type Size = "given" | "all" | "over" | "most";
const given = { weight: 9, arbitrary: fc.constant<Size>("given") };
const sizes = fc.oneof(given, { weight: 1, arbitrary: fc.constantFrom<Size>("all", "all", "over", "most") });
const op_id = fc.constantFrom(...GIVEN);
const ttl_ms = number(1_000, 5_000, 60_000, 60_000);

/** Which hold a verb names: one in that state if there is one, by its place; or any id. */
type State = "open" | "due" | "settled" | "expired" | "any" | "stray";
const aim = (...states: State[]) => ({
  tenant,
  pick: fc.nat(99),
  hold: fc.constantFrom(...HOLDS),
  state: fc.constantFrom(...states),
});

const item = fc.record({
  model: fc.constantFrom(...MODELS),
  amount: fc.constantFrom(0, 1, 5, 10, 20, 30),
  tokens: fc.constantFrom(0, 1_500),
  requests: fc.constantFrom(0, 1),
});
const items = fc.oneof(
  { weight: 3, arbitrary: fc.record({ ...parts(amount) }).map((one) => [one]) },
  { weight: 2, arbitrary: fc.array(item, { minLength: 1, maxLength: 3 }) },
);
function parts(of: fc.Arbitrary<number>) {
  return { model: fc.constant("m1"), amount: of, tokens: fc.constant(0), requests: fc.constant(1) };
}

const capped = <T extends string>(name: T, ...caps: number[]) =>
  fc.constantFrom({}, {}, ...caps.map((cap) => ({ [name]: cap }) as { [K in T]?: number }));
export interface Terms {
  status: "active" | "frozen";
  borrow_cap?: number;
  max_concurrent?: number;
}
const terms: fc.Arbitrary<Terms> = fc
  .tuple(
    rarely("active" as const, "frozen" as const),
    capped("borrow_cap", 0, 20, 60),
    capped("max_concurrent", 0, 1, 2, 3, 4, 6),
  )
  .map(([status, ...caps]) => ({ status, ...caps[0], ...caps[1] }));
const ACTIVE = { status: "active" };
const config = fc.constantFrom<object>(
  ACTIVE,
  ACTIVE,
  ACTIVE,
  { status: "active", name: "Acme" },
  { status: "frozen" },
);
const compare = {
  before: fc.constantFrom(
    "right" as const,
    "right" as const,
    "right" as const,
    "none" as const,
    "stale" as const,
  ),
  kind: fc.constantFrom("config" as const, "status" as const),
  /** As it is already. */
  same: usually(false, true),
};

const verbs = {
  /** What every other verb shrinks to, so that only those that matter are left of a failure. */
  rest: { weight: 1 },
  reserve: {
    weight: 30,
    ...place,
    hold: fc.constantFrom(...HOLDS),
    items,
    /** Instead of the first item's amount: all that there is, one more, or the greatest amount that can be. */
    size: sizes,
    ttl_ms,
    token: usually("none" as const, "own", "own", "own", "other", "any"),
    pick: fc.nat(4),
    home: usually("-", "-", "-", "openai:up", "openai:shut", "openai:gone"),
    metadata: fc.constantFrom(...METADATA),
  },
  settle: {
    weight: 14,
    ...aim("open", "open", "open", "open", "open", "open", "expired", "expired", "any", "stray"),
    actual: fc.constantFrom(
      ...(["zero", "less", "less", "equal", "equal", "equal", "more", "more", "beyond", "most"] as const),
    ),
    more,
    used: fc.constantFrom(...(["none", "none", "right", "right", "other", "short", "long"] as const)),
  },
  void: { weight: 4, ...aim("open", "open", "open", "any", "stray") },
  expire: {
    weight: 8,
    ...aim("due", "due", "due", "due", "due", "open", "any", "stray"),
    /** Waits for the end of the hold first. */
    wait: fc.boolean(),
  },
  extend: {
    weight: 8,
    ...aim("open", "open", "open", "open", "any", "stray"),
    ttl_ms: fc.constantFrom(1, 1_000, 120_000),
    grow: fc.constantFrom(...(["none", "less", "more", "more", "more", "more", "beyond"] as const)),
    accrued: fc.constantFrom(...(["none", "less", "less", "equal", "more", "beyond", "most"] as const)),
    more,
  },
  refund: {
    weight: 7,
    ...aim("settled", "settled", "settled", "settled", "settled", "settled", "any", "stray"),
    op_id,
    part: fc.constantFrom(...(["some", "some", "some", "all", "too_much"] as const)),
    more,
  },
  adjust: {
    weight: 8,
    tenant,
    sub: fc.constantFrom<string>("", "", "app", "app", "1e5"),
    /** Rather one that owes something, if there is one. */
    owing: usually(false, true),
    op_id,
    how: fc.constantFrom(...ADJUSTMENTS, "grant" as const, "grant" as const, "grant" as const),
    amount: number(0, 5, 20, 60, 100, 200),
    size: sizes,
  },
  put: { weight: 4, tenant, config, ...compare },
  putSub: { weight: 5, ...place, terms, ...compare },
  removeSub: { weight: 1, ...place },
  remove: { weight: 1, tenant: usually("acme.2", "acme") },
  /** Ends what is open, takes the sub-account or its whole tenant away, and makes it again under the same name. */
  rebirth: { weight: 2, ...place, whole: fc.boolean(), amount, op_id: fc.constantFrom(...BIRTHS) },
  addToken: { weight: 3, ...place, name: fc.constantFrom("ci", "laptop", "two words") },
  revokeToken: { weight: 2, ...place, pick: fc.nat(9), right: usually(true, false) },
  /** A call of before once more: the same, or with another amount. */
  repeat: { weight: 10, pick: fc.nat(12), other: usually(false, true) },
  wait: { weight: 3, ms: fc.constantFrom(1, 999, 5_000, 60_000, 3_600_000, 25 * 3_600_000) },
  /** Waits for one of the next ends of something, to the millisecond before, at or after it. */
  until: {
    weight: 6,
    end: fc.constantFrom(...(["hold", "hold", "hold", "record", "op"] as const)),
    pick: fc.nat(2),
    off_ms: fc.constantFrom(-1, 0, 1),
  },
};

type Shape = { weight: number } & Record<string, unknown>;
type Of<V extends Shape> = {
  [K in Exclude<keyof V, "weight">]: V[K] extends fc.Arbitrary<infer T> ? T : never;
};
type Verb = keyof typeof verbs;
export type Operation<V extends Verb = Verb> = { [K in V]: { verb: K } & Of<(typeof verbs)[K]> }[V];

const arbitraryOf = (verb: string, { weight, ...shape }: { weight: number }) => ({
  weight,
  arbitrary: fc.record({ verb: fc.constant(verb), ...shape }) as unknown as fc.Arbitrary<Operation>,
});
const alternatives = Object.entries(verbs).map(([verb, shape]) => arbitraryOf(verb, shape));

export const history = fc.record({
  /** What an amount of 1 is; with the second one, 300 is almost the greatest amount that there can be. */
  unit: fc.constantFrom(1, 1, 1, 1, 30_023_997_515_803),
  /** Of the first tenant's sub-accounts. */
  terms: fc.tuple(terms, terms),
  funds: fc.record({ account: number(0, 60, 150, 300), sub: number(0, 20, 50) }),
  /** Whether the second tenant is there from the start. */
  second: usually(true, false),
  operations: fc.array(fc.oneof({ withCrossShrink: true }, ...alternatives), {
    minLength: 30,
    maxLength: 48,
    size: "max",
  }),
});
export type History = Values<typeof history>;
