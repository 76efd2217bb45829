// Which credential is asked first: every term of the score alone, and each strategy.
import { describe, expect, test } from "vitest";
import { score } from "../../src/leases/rank.ts";
import { defaultsOf } from "../../src/pools/settings.ts";
import type { CredentialState } from "../../src/pools/state.ts";
import { candidate, firsts, NOW_MS, order } from "./rank-kit.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const ago = (ms: number) => NOW_MS - ms;

const none = {
  capacity: 0,
  idle: 0,
  success: 0,
  error: 0,
  rate_limit: 0,
  cooldown: 0,
  freshness: 0,
  jitter: 0,
};
type Term = keyof typeof none;
const half = () => 0.5;
const alone = (term: Term, more: Partial<CredentialState>, weight = 1) =>
  score(candidate("k", more), { ...none, [term]: weight }, NOW_MS, half);

/** Of each term: states from the best to the worst, and what the term says of them. */
const TERMS: [Term, [Partial<CredentialState>, number][]][] = [
  [
    "capacity",
    [
      [{ in_flight: 0 }, 1],
      [{ in_flight: 3 }, 0.7],
      [{ in_flight: 9 }, 0.1],
      [{ in_flight: 10 }, 0],
      [{ in_flight: 15 }, 0], // its cap was lowered below what it carries
    ],
  ],
  [
    "idle",
    [
      [{ used_at_ms: 0 }, 1],
      [{ used_at_ms: ago(HOUR_MS) }, 1],
      [{ used_at_ms: ago(5 * MINUTE_MS) }, 1],
      [{ used_at_ms: ago(4 * MINUTE_MS) }, 0.8],
      [{ used_at_ms: ago(0) }, 0],
      [{ used_at_ms: ago(-MINUTE_MS) }, 0], // the clock of Redis is ahead of ours
    ],
  ],
  [
    "success",
    [
      [{ success: -1 }, 1],
      [{ success: 1000 }, 1],
      [{ success: 250 }, 0.25],
      [{ success: 0 }, 0],
    ],
  ],
  [
    "error",
    [
      [{ errors: 0 }, 0],
      [{ errors: 1 }, -1 / 3],
      [{ errors: 3 }, -1],
      [{ errors: 50 }, -1],
    ],
  ],
  [
    "rate_limit",
    [
      [{ limited_at_ms: 0 }, 0],
      [{ limited_at_ms: ago(HOUR_MS) }, 0],
      [{ limited_at_ms: ago(10 * MINUTE_MS) }, 0],
      [{ limited_at_ms: ago(4 * MINUTE_MS) }, -0.6],
      [{ limited_at_ms: ago(0) }, -1],
      [{ limited_at_ms: ago(-MINUTE_MS) }, -1],
    ],
  ],
  [
    "cooldown",
    [
      [{}, 0],
      [{ status: "cooling", until_ms: ago(1) }, -1],
    ],
  ],
  [
    "freshness",
    [
      [{ verified_at_ms: ago(-1) }, 0],
      [{ verified_at_ms: ago(6 * HOUR_MS) }, -0.25],
      [{ verified_at_ms: ago(24 * HOUR_MS) }, -1],
      [{ verified_at_ms: ago(48 * HOUR_MS) }, -1],
      [{ verified_at_ms: 0 }, -1],
    ],
  ],
];

describe("score", () => {
  test.each(TERMS)("%s alone: 0 to 1, and never more for a worse state", (term, states) => {
    let before = Number.POSITIVE_INFINITY;
    for (const [more, expected] of states) {
      expect([more, alone(term, more)]).toEqual([more, expect.closeTo(expected, 9)]);
      expect(alone(term, more, 3)).toBeCloseTo(3 * expected, 9);
      expect(alone(term, more)).toBeLessThanOrEqual(before);
      before = alone(term, more);
    }
  });

  test("a weight of 0 takes its term out; with all of them out, all are equal", () => {
    for (const [, states] of TERMS)
      for (const [more] of states) expect(score(candidate("k", more), none, NOW_MS, half)).toBe(0);
  });

  test("jitter adds at most its weight", () => {
    for (const random of [0, 0.25, 0.999])
      expect(score(candidate("k"), { ...none, jitter: 4 }, NOW_MS, () => random)).toBe(4 * random);
  });

  test("the terms add up; an unknown state counts as one that was never used", () => {
    const { weights } = defaultsOf("default");
    const worn = {
      in_flight: 5,
      used_at_ms: ago(MINUTE_MS),
      success: 900,
      errors: 1,
      limited_at_ms: ago(5 * MINUTE_MS),
      verified_at_ms: ago(12 * HOUR_MS),
    };
    const sum = 0.5 + 0.5 * 0.2 + 0.9 - 0.5 / 3 - 0.5 * 0.5 - 0.2 * 0.5 + 0.01 * 0.5;
    expect(score(candidate("k", worn), weights, NOW_MS, half)).toBeCloseTo(sum, 9);
    expect(score(candidate("k", "unknown"), weights, NOW_MS, half)).toBeCloseTo(
      score(candidate("k"), weights, NOW_MS, half),
      9,
    );
  });
});

describe("strategies", () => {
  test("score: the best first; jitter decides among equals and never against a difference", () => {
    const best = [candidate("a"), candidate("b")];
    const worse = candidate("c", { in_flight: 1 });
    const shares = firsts(2_000, () => order([worse, ...best]));
    expect(Object.keys(shares).sort()).toEqual(["a", "b"]);
    expect(shares.a).toBeCloseTo(0.5, 1);
    const calm = { weights: { ...defaultsOf("default").weights, jitter: 0 } };
    expect(firsts(20, () => order([worse, ...best], calm))).toEqual({ a: expect.closeTo(1, 9) });
  });

  test("least_in_flight: by what they carry, equals in any order", () => {
    const carrying = [3, 0, 2, 0, 9].map((in_flight, i) => candidate(`k${i}`, { in_flight, success: i }));
    const shares = firsts(500, () => {
      const ids = order(carrying, { strategy: "least_in_flight" });
      expect(ids.slice(2)).toEqual(["k2", "k0", "k4"]);
      return ids;
    });
    expect(shares.k1).toBeCloseTo(0.5, 1);
    expect(shares.k3).toBeCloseTo(0.5, 1);
  });

  test("round_robin: least recently used first, never used before all", () => {
    const used = [50, 10, 20].map((ms, i) => candidate(`k${i}`, { used_at_ms: ago(ms), in_flight: i }));
    expect(order([...used, candidate("new")], { strategy: "round_robin" })).toEqual([
      "new",
      "k0",
      "k2",
      "k1",
    ]);
  });

  test.each([
    [1, 2, 5],
    [0.001, 0.001],
  ])("weighted_random: shares by weight (%s, …)", (...weights) => {
    const weighted = weights.map((weight, i) => candidate(`k${i}`, {}, { weight }));
    const shares = firsts(20_000, () => order(weighted, { strategy: "weighted_random" }));
    const sum = weights.reduce((a, b) => a + b);
    for (const [i, weight] of weights.entries())
      expect(Math.abs((shares[`k${i}`] ?? 0) - weight / sum)).toBeLessThan(0.015);
  });
});
