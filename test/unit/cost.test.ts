// What a call costs: money lost or taken by a rounding, if these failed.
import fc from "fast-check";
import { expect, test } from "vitest";
import { costOf } from "../../src/catalog/cost.ts";

const rates = { input: 150_000, cached_input: 75_000, output: 600_000, per_request: 0 };
const none = { input: 0, cached_input: 0, cache_write: 0, output: 0 };

test.each([
  ["case C33: 1 token at 0.15 per million is 1 micro", { input: 1 }, {}, 1],
  ["nothing used is nothing charged", {}, {}, 0],
  ["a million tokens at 0.15 are 150,000 micros", { input: 1_000_000 }, {}, 150_000],
  ["rounded up once, not once for each part", { input: 1, cached_input: 1, output: 1 }, {}, 1],
  ["cached input has its own price", { cached_input: 1_000_000 }, {}, 75_000],
  ["a cache write without a price costs as input", { cache_write: 1_000_000 }, {}, 150_000],
  ["a cache write with one costs that", { cache_write: 1_000_000 }, { cache_write: 187_500 }, 187_500],
  ["a request costs its price on top", { output: 1 }, { per_request: 500 }, 501],
  ["all digits at 2^53-1", { input: 9_007_199_254 }, { input: 10 ** 12 }, 9_007_199_254_000_000],
])("%s", (_, usage, more, cost) => {
  expect(costOf({ ...rates, ...more }, { ...none, ...usage })).toBe(cost);
});

test("a cost above 2^53-1 is refused, not rounded", () => {
  expect(() => costOf({ ...rates, input: 10 ** 12 }, { ...none, input: 9_007_199_255 })).toThrow(RangeError);
});

test("never less than the exact cost, and less than a micro more", () => {
  const n = fc.integer({ min: 0, max: 10 ** 7 });
  fc.assert(
    fc.property(fc.record({ input: n, cached_input: n, cache_write: n, output: n }), n, (usage, rate) => {
      const own = { input: rate, cached_input: rate, output: rate, per_request: 0 };
      const tokens = usage.input + usage.cached_input + usage.cache_write + usage.output;
      const exact = BigInt(tokens) * BigInt(rate);
      const over = BigInt(costOf(own, usage)) * 1_000_000n - exact;
      expect(over >= 0n && over < 1_000_000n).toBe(true);
    }),
  );
});
