// What the outcome of a call does to its credential, on a real Redis: the table of outcomes, streaks, and old news.
import { describe, expect, test } from "vitest";
import { defaultsOf } from "../../src/pools/settings.ts";
import { readState } from "../../src/pools/state.ts";
import { useRedis } from "../support/redis.ts";
import { healthKit, type Outcome } from "./health-kit.ts";

const redis = useRedis();
const { pool, state, hold, holdMany, call, bench, serves } = healthKit(redis);
const HOUR_MS = 3_600_000;

describe("the table of outcomes", () => {
  const rows: [Outcome, number | "", string, number | undefined, { errors?: number; success?: number }][] = [
    ["success", "", "available", undefined, { success: 1000 }],
    ["", "", "available", undefined, {}],
    ["client_error", "", "available", undefined, {}],
    ["client_error", 5_000, "available", undefined, {}],
    ["cancelled", "", "available", undefined, {}],
    ["rate_limited", "", "rate_limited", 60_000, {}],
    ["rate_limited", 2_000, "rate_limited", 2_000, {}],
    ["exhausted", "", "exhausted", 6 * HOUR_MS, {}],
    ["exhausted", 1_000, "exhausted", 6 * HOUR_MS, {}],
    ["exhausted", 7 * HOUR_MS, "exhausted", 7 * HOUR_MS, {}],
    ["auth_failed", "", "auth_failed", undefined, {}],
    ["auth_failed", 1_000, "auth_failed", undefined, {}],
    ["upstream_error", "", "available", undefined, { errors: 1, success: 0 }],
    ["upstream_error", 2_000, "cooling", 2_000, { errors: 1, success: 0 }],
  ];
  test.each(rows)("%s, Retry-After %j: %s for %j ms", async (outcome, retry, status, in_ms, more) => {
    await pool.put("c1", 2);
    await pool.put("c2", 2);
    const other = await state("c2");
    await call("c1", outcome, retry);
    expect(await bench("c1")).toEqual([status, in_ms]);
    expect(await state("c1")).toMatchObject({ in_flight: 0, errors: 0, success: -1, capacity: 2, ...more });
    const { limited_at_ms } = readState((await redis.raw.hget(pool.pool_key, "c1")) ?? "");
    expect(limited_at_ms).toBe(outcome === "rate_limited" ? redis.now_ms : 0);
    expect(await serves("c1")).toBe(status === "available" ? "granted" : status);
    expect(await state("c2")).toEqual(other);
  });

  test("the success rate is smoothed over about 16 calls", async () => {
    await pool.put("c1", 1);
    const rates: (number | undefined)[] = [];
    for (const outcome of ["success", "upstream_error", "success", "rate_limited"] as const) {
      await call("c1", outcome);
      rates.push((await state("c1")).success);
    }
    expect(rates).toEqual([1000, 938, 942, 942]);
  });

  test("case B11: callers' faults bench nobody; upstream's bring short cooldowns and the breaker, and disable nobody", async () => {
    const wary = healthKit(redis, defaultsOf("default")); // with a breaker that opens
    const ids = ["c1", "c2", "c3"];
    for (const id of ids) await wary.pool.put(id, 10);
    for (let i = 0; i < 10; i++) await (await wary.hold(ids[i % 3] ?? "")).end("client_error");
    for (const id of ids) expect(await wary.state(id)).toMatchObject({ status: "available", errors: 0 });
    const held = await Promise.all(Array.from({ length: 10 }, (_, i) => wary.hold(ids[i % 3] ?? "")));
    for (const lease of held) await lease.end("upstream_error");
    for (const id of ids) {
      const [status, in_ms] = await wary.bench(id);
      expect([id, status, in_ms]).toEqual([id, "cooling", 5_000]);
    }
    expect(await pool.allocate("late", ids)).toEqual({ kind: "breaker_open", due_in_ms: 15_000 });
  });

  test("case B12: a billing error benches its credential at the first, an ordinary 400 nobody", async () => {
    await pool.put("c1", 1);
    await pool.put("c2", 1);
    await call("c2", "client_error");
    await call("c1", "exhausted");
    expect(await bench("c1")).toEqual(["exhausted", 6 * HOUR_MS]);
    expect((await hold("c1", "c2")).credential).toBe("c2");
  });

  test("case B13: a spent quota and a 402 are a long bench at one hit, a rate limit ends with its Retry-After", async () => {
    for (const id of ["quota", "rate", "paid"]) await pool.put(id, 1);
    await call("quota", "exhausted");
    await call("rate", "rate_limited", 2_000);
    await call("paid", "exhausted", "");
    await redis.later(2_000);
    expect([await serves("quota"), await serves("rate"), await serves("paid")]).toEqual([
      "exhausted",
      "granted",
      "exhausted",
    ]);
    await redis.later(6 * HOUR_MS - 2_001);
    expect(await serves("quota")).toBe("exhausted");
    await redis.later(1);
    expect([await serves("quota"), await serves("paid")]).toEqual(["granted", "granted"]);
  });
});

describe("a streak of errors", () => {
  test("benches from the third on, twice as long each time, up to the maximum", async () => {
    await pool.put("c1", 1);
    const benches: unknown[] = [];
    for (let i = 0; i < 10; i++) {
      await call("c1", "upstream_error");
      const [, in_ms] = await bench("c1");
      benches.push(in_ms);
      await redis.later(Number(in_ms ?? 0));
    }
    const seconds = [5, 10, 20, 40, 80, 160, 300, 300].map((s) => s * 1000);
    expect(benches).toEqual([undefined, undefined, ...seconds]);
    await call("c1", "success");
    await call("c1", "upstream_error");
    expect(await state("c1")).toMatchObject({ status: "available", errors: 1 });
  });

  test("a caller's faults and rate limits neither add to it nor end it", async () => {
    await pool.put("c1", 1);
    for (const outcome of ["upstream_error", "client_error", "cancelled", "", "upstream_error"] as const)
      await call("c1", outcome);
    await call("c1", "rate_limited", 1_000);
    await redis.later(1_000);
    await call("c1", "upstream_error");
    expect(await state("c1")).toMatchObject({ status: "cooling", errors: 3 });
  });

  test("fifty failures of one blip count once, and its late ones do not lengthen the bench", async () => {
    await pool.put("c1", 50);
    const held = await holdMany(50, "c1");
    for (const [i, lease] of held.entries()) {
      await lease.end("upstream_error");
      if (i === 10) await redis.later(1_000);
    }
    expect(await state("c1")).toMatchObject({ status: "cooling", errors: 3, in_flight: 0 });
    expect(await bench("c1")).toEqual(["cooling", 4_000]);
    await redis.later(4_000);
    await call("c1", "upstream_error"); // the next one is news
    expect(await bench("c1")).toEqual(["cooling", 10_000]);
  });

  test("an older success ends neither a bench nor its streak; a newer one does", async () => {
    await pool.put("c1", 10);
    const old = await holdMany(2, "c1");
    for (let i = 0; i < 3; i++) await call("c1", "upstream_error");
    await old[0]?.end("success");
    expect(await bench("c1")).toEqual(["cooling", 5_000]);
    expect((await state("c1")).errors).toBe(3);
    await redis.later(5_000);
    const fresh = await hold("c1");
    await old[1]?.end("success");
    expect((await state("c1")).errors).toBe(3);
    await fresh.end("success");
    expect((await state("c1")).errors).toBe(0);
  });
});

describe("old news of a secret", () => {
  test.each(["auth_failed", "exhausted"] as const)(
    "%s of the old secret leaves the new one in service",
    async (outcome) => {
      await pool.put("c1", 3);
      const [first, second] = await holdMany(2, "c1");
      await first?.end(outcome);
      await pool.put("c1", 3, { fingerprint: "new", sealed: "k1.new" });
      expect(await bench("c1")).toEqual(["available", undefined]);
      expect(await second?.end(outcome)).toEqual({ kind: "released" });
      expect(await bench("c1")).toEqual(["available", undefined]);
      await call("c1", outcome);
      expect((await state("c1")).status).toBe(outcome);
    },
  );

  test("also when the secret was changed before anyone complained, by a put or by a patch", async () => {
    for (const id of ["c1", "c2"]) await pool.put(id, 3);
    const old = [await hold("c1"), await hold("c2")];
    await pool.put("c1", 3, { fingerprint: "new", sealed: "k1.new" });
    await pool.patch("c2", "{}", { fingerprint: "newer", sealed: "k1.newer" });
    for (const lease of old) await lease.end("auth_failed");
    expect([await serves("c1"), await serves("c2")]).toEqual(["granted", "granted"]);
  });

  test("nor does one from before an operator's enable, or a grant that could not be opened then", async () => {
    await pool.put("c1", 3);
    const [first, second, third] = await holdMany(3, "c1");
    await first?.end("auth_failed");
    await pool.mark("c1", "available");
    await second?.end("auth_failed");
    expect(await pool.undo(third?.lease_id ?? "", true)).toEqual({ kind: "undone" });
    expect(await bench("c1")).toEqual(["available", undefined]);
  });

  test("while a bench runs, an older verdict still counts", async () => {
    await pool.put("c1", 3);
    const [first, second] = await holdMany(2, "c1");
    await first?.end("rate_limited", 5_000);
    await second?.end("auth_failed");
    expect(await bench("c1")).toEqual(["auth_failed", undefined]);
  });
});
