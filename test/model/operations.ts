// What a history is made of: one arbitrary per verb, small enough that ids, deadlines and secrets collide often.
import fc from "fast-check";
import { defaultsOf, type PoolSettings } from "../../src/pools/settings.ts";
import { OUTCOMES } from "../../src/scripts/lease/release.ts";

export const POOLS = ["default", "vip"] as const;
export type PoolName = (typeof POOLS)[number];
export const CREDENTIALS = ["c1", "c2", "c3", "1e5"];
/** Names of no credential; enough that a list of candidates is often longer than the first read. */
const STRANGERS = ["nobody", "gone", "never", "ghost"];
/** Few, so that ids are met again; those of whole calls are mostly new. */
const HELD = [...Array.from({ length: 14 }, (_, i) => `l${i}`), "0x10", "1e5"];
const CALLS = Array.from({ length: 24 }, (_, i) => `call-${i}`);
export const LEASES = [...HELD, ...CALLS];

const pool = fc.constantFrom<PoolName>("default", "default", "default", "default", "vip");
const credential = fc.constantFrom(...CREDENTIALS);
const lease = fc.constantFrom(...HELD);
const print = fc.constantFrom("f1", "f2", "f3", "f4", "f5");
const seal = fc.constantFrom("k1.a", "k1.b", "k1.c", "k2.a");
const config = fc.constantFrom("{}", '{"weight":2}');
const capacity = fc.integer({ min: 1, max: 3 });
const mostly = <T>(usual: T, rare: T) => fc.constantFrom(usual, usual, usual, usual, rare);

/** What most calls end in here: streaks and breakers live on it. */
const UPSTREAM = [
  "upstream_error",
  "upstream_error",
  "upstream_error",
  "upstream_error",
  "success",
  "success",
] as const;

const outcome = fc.constantFrom(...OUTCOMES, "" as const, ...UPSTREAM);
const retry_after_ms = fc.constantFrom(
  "" as const,
  "" as const,
  "" as const,
  0,
  400,
  4_000,
  9_999_999_999_999,
);

/** Which lease a holder names: one that was granted, by its place; or any id. And whether it says right whose it is. */
const aim = { pick: fc.nat(99), lease, pool, credential, right: mostly(true, false) };

const settings = fc.record({
  max_lifetime_seconds: fc.constantFrom(1, 10, 60, 60, 60),
  reserved_capacity: fc.constantFrom(0, 0, 1, 2),
  recovery: fc.constantFrom("opportunistic" as const, "opportunistic" as const, "probe" as const),
  mode: fc.constantFrom(
    "auto" as const,
    "auto" as const,
    "auto" as const,
    "open" as const,
    "closed" as const,
  ),
  probes: fc.integer({ min: 1, max: 3 }),
  failures: fc.integer({ min: 1, max: 3 }),
  errors_from: fc.integer({ min: 1, max: 2 }),
});
type Given = typeof settings extends fc.Arbitrary<infer T> ? T : never;

/** Short durations, so that a history sees benches and open breakers end. */
export const settingsOf = ({ mode, probes, failures, errors_from, ...own }: Given): PoolSettings => ({
  ...defaultsOf("default"),
  ...own,
  breaker: { mode, probes, failures, open_ms: 1_000, open_max_ms: 3_000 },
  cooldowns: {
    rate_limit_min_ms: 500,
    rate_limit_default_ms: 3_000,
    rate_limit_max_ms: 30_000,
    exhausted_ms: 25_000,
    errors_from,
    error_ms: 2_000,
    error_max_ms: 3_000,
  },
});

const verbs = {
  /** What every other verb shrinks to, so that only those that matter are left of a failure. */
  rest: { weight: 1 },
  allocate: {
    weight: 24,
    pool,
    lease,
    candidates: fc.shuffledSubarray([...CREDENTIALS, ...STRANGERS], { minLength: 1 }),
    lease_ms: fc.constantFrom(1, 1_000, 2_000, 5_000, 30_000, 30_000, 30_000),
    print: mostly("p1", "p2"),
    borrowed: mostly(false, true),
    /** The token of one credential ends so many ms from now. */
    token: fc.option(fc.record({ credential, in_ms: fc.constantFrom(-1, 0, 1, 700, 5_000) }), { freq: 4 }),
  },
  release: { weight: 10, ...aim, outcome, retry_after_ms },
  /** From the grant to the outcome. */
  call: { weight: 8, pool, lease: fc.constantFrom(...CALLS), outcome, retry_after_ms },
  renew: { weight: 4, ...aim, lease_ms: fc.constantFrom(1, 500, 1_000, 5_000, 100_000) },
  undo: { weight: 2, ...aim, bench_it: fc.boolean(), spend_ms: fc.constantFrom(0, 0, 5_000) },
  wait: { weight: 3, ms: fc.constantFrom(1, 499, 999, 1_000, 2_000, 4_000, 20_000, 60_000, 200_000) },
  /** Waits for one of the next ends of something, to the millisecond before, at or after it. */
  until: {
    weight: 6,
    end: fc.constantFrom(
      "lease" as const,
      "bench" as const,
      "breaker" as const,
      "breaker" as const,
      "record" as const,
    ),
    pick: fc.nat(2),
    off_ms: fc.constantFrom(-1, 0, 1),
  },
  put: {
    weight: 4,
    pool,
    credential,
    capacity,
    config,
    print,
    seal,
    status: mostly<"available" | "pending" | "disabled">("available", "pending"),
  },
  patch: {
    weight: 2,
    pool,
    credential,
    capacity: fc.option(capacity),
    config,
    secret: fc.option(fc.record({ print, seal })),
    right: mostly(true, false),
  },
  mark: {
    weight: 3,
    pool,
    credential,
    status: fc.constantFrom("available" as const, "available" as const, "disabled" as const),
  },
  revoke: { weight: 2, pool, credential },
  remove: { weight: 1, pool, credential },
  configure: { weight: 2, pool, settings, right: mostly(true, false) },
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
  settings: fc.record({ default: settings, vip: settings }),
  /** Whether the second pool is there from the start. */
  vip: fc.boolean(),
  reclaim_step: fc.constantFrom(64 as const, 64 as const, 64 as const, 2 as const),
  operations: fc.array(fc.oneof({ withCrossShrink: true }, ...alternatives), {
    minLength: 20,
    maxLength: 60,
    size: "max",
  }),
});
