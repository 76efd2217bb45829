// Retry-After in every form that upstreams send it.
import { expect, test } from "vitest";
import { retryAfterMs } from "../../src/leases/retry-after.ts";

const DATE = "Mon, 30 Nov 2026 07:26:00 GMT";

test.each([
  ["120", 120_000],
  ["Mon, 30 Nov 2026 07:28:00 GMT", 120_000],
  ["Monday, 30-Nov-26 07:28:00 GMT", 120_000],
  ["Mon, 30 Nov 2026 07:20:00 GMT", undefined], // in the past
  ["", undefined],
  [undefined, undefined],
  ["0", 0], // Lua raises it to the pool's minimum
  ["-5", undefined],
  ["1.5", 1_500],
  ["9999999999", 10 ** 12],
  ["9".repeat(20), 10 ** 12],
  ["1e3", undefined],
  ["0x10", undefined],
  ["NaN", undefined],
  ["Infinity", undefined],
  ["soon", undefined],
  [" 2 ", 2_000],
] as const)("%j is %j ms", (header, wait_ms) => {
  expect(retryAfterMs(header, DATE)).toBe(wait_ms);
});

test("a date counts from the response's own Date, and says nothing without one", () => {
  const header = "Mon, 30 Nov 2026 07:28:00 GMT";
  expect(retryAfterMs(header, "Mon, 30 Nov 2026 07:27:30 GMT")).toBe(30_000);
  expect(retryAfterMs(header, undefined)).toBeUndefined();
  expect(retryAfterMs(header, "yesterday")).toBeUndefined();
});
