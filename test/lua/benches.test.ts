// How a bench ends, on a real Redis: by its deadline, an operator or a new secret, and by nothing else.
import { describe, expect, test } from "vitest";
import { retryAfterMs } from "../../src/leases/retry-after.ts";
import { retrySeconds } from "../../src/units.ts";
import { dumpOf } from "../support/lease.ts";
import { poolStateOf } from "../support/pool.ts";
import { useRedis } from "../support/redis.ts";
import { healthKit, settingsOf } from "./health-kit.ts";

const redis = useRedis();
const { pool, state, hold, holdMany, call, bench, serves } = healthKit(redis);
const DAY_MS = 86_400_000;
const DATE = "Mon, 30 Nov 2026 07:26:00 GMT";

describe("deadlines", () => {
  test.each([
    ["120", 120_000],
    ["Mon, 30 Nov 2026 07:28:00 GMT", 120_000],
    ["Mon, 30 Nov 2026 07:20:00 GMT", 60_000],
    [undefined, 60_000],
    ["", 60_000],
    ["0", 1_000],
    ["-5", 60_000],
    ["1.5", 1_500],
    ["9999999999", 1_800_000],
  ])(
    "case B14: Retry-After %j benches for %d ms, and the refusal's is not shorter",
    async (header, in_ms) => {
      await pool.put("c1", 1);
      await call("c1", "rate_limited", retryAfterMs(header, DATE) ?? "");
      expect(await bench("c1")).toEqual(["rate_limited", in_ms]);
      const refused = await pool.allocate("next", ["c1"]);
      expect(refused).toMatchObject({ kind: "no_capacity", due_in_ms: in_ms });
      expect(refused.kind === "no_capacity" && retrySeconds(refused.due_in_ms)).toBe(Math.ceil(in_ms / 1000));
    },
  );

  test.each([
    [0, 1_000],
    [120_000, 120_000],
    [10 ** 12, 1_800_000],
  ])("case B14: Retry-After on a 503: %d ms are honoured as %d", async (retry_after_ms, in_ms) => {
    await pool.put("c1", 1);
    await call("c1", "upstream_error", retry_after_ms);
    expect(await bench("c1")).toEqual(["cooling", in_ms]);
  });

  test("case B15: of several the latest wins, whatever the order", async () => {
    await pool.put("c1", 4);
    const start = redis.now_ms;
    const seen: number[] = [];
    for (const [i, lease] of (await holdMany(4, "c1")).entries()) {
      await lease.end("rate_limited", ([1_000, "", 3 * DAY_MS, ""] as const)[i] ?? "");
      seen.push((await state("c1")).until_ms - start);
      await redis.later(100);
    }
    expect(seen).toEqual([1_000, 60_100, 1_800_200, 1_800_200]);
  });

  test("case B15: across statuses, too: the later deadline stays, and none outlasts one without end", async () => {
    await pool.put("c1", 6);
    const held = await holdMany(6, "c1");
    const after: unknown[] = [];
    for (const [i, outcome] of (
      ["exhausted", "rate_limited", "upstream_error", "auth_failed", "exhausted", "rate_limited"] as const
    ).entries()) {
      await held[i]?.end(outcome, outcome === "upstream_error" ? 1_000_000 : "");
      after.push(await bench("c1"));
    }
    const long = ["exhausted", DAY_MS / 4];
    expect(after).toEqual([long, long, long, ...Array(3).fill(["auth_failed", undefined])]);
  });

  test("case B16: refused at T-1 ms, granted at T and at T+1; and at once when an operator clears it", async () => {
    for (const id of ["c1", "c2", "c3"]) {
      await pool.put(id, 1);
      await call(id, "rate_limited", 5_000);
    }
    const until_ms = redis.now_ms + 5_000;
    expect(await pool.mark("c3", "available")).toEqual({ kind: "marked", in_flight: 0, changed: true });
    expect(await serves("c3")).toBe("granted");
    await redis.at(until_ms - 1);
    expect(await serves("c1")).toBe("rate_limited");
    await redis.at(until_ms);
    expect(await serves("c1")).toBe("granted");
    await redis.at(until_ms + 1);
    expect(await serves("c2")).toBe("granted");
  });

  test("case B17: both benched: the earlier end is named, and nothing is reserved", async () => {
    await pool.put("c1", 1);
    await pool.put("c2", 1);
    await call("c1", "rate_limited", 9_000);
    await call("c2", "rate_limited", 5_000);
    const before = await dumpOf(redis.raw);
    const own = poolStateOf(await redis.raw.hget(pool.pool_key, "@pool"));
    for (const order of [
      ["c1", "c2"],
      ["c2", "c1"],
    ])
      expect(await pool.allocate("l1", order)).toEqual({
        kind: "no_capacity",
        due_in_ms: 5_000,
        reasons: { rate_limited: 2 },
        seq: 2,
      });
    const now = poolStateOf(await redis.raw.hget(pool.pool_key, "@pool"));
    expect(now).toEqual({ ...own, refused: (own.refused ?? 0) + 2 });
    await redis.raw.hset(pool.pool_key, "@pool", Object.values(own).join(" "));
    expect(await dumpOf(redis.raw)).toEqual(before);
  });
});

describe("what ends without a deadline", () => {
  test("auth_failed stays, whatever the time and the configuration, until an enable or a new secret", async () => {
    for (const id of ["c1", "c2"]) {
      await pool.put(id, 2);
      await call(id, "auth_failed");
    }
    await redis.later(400 * DAY_MS);
    await pool.put("c1", 3, { config: '{"new":1}', sealed: "k2.c1" });
    expect([await serves("c1"), await serves("c2")]).toEqual(["auth_failed", "auth_failed"]);
    await pool.mark("c1", "available");
    await pool.put("c2", 2, { fingerprint: "new" });
    expect([await serves("c1"), await serves("c2")]).toEqual(["granted", "granted"]);
  });

  test("pending waits for an enable", async () => {
    await pool.put("c1", 1, { status: "pending" });
    await redis.later(DAY_MS);
    await pool.put("c1", 1, { fingerprint: "new" });
    expect(await serves("c1")).toBe("pending");
    await pool.mark("c1", "available");
    expect(await serves("c1")).toBe("granted");
  });

  test("case B18: disabled lets its lease run on and end, and neither success nor time enables it", async () => {
    await pool.put("c1", 6);
    await call("c1", "rate_limited", 1_000);
    await redis.later(1_000);
    const lease = await hold("c1");
    const others = await holdMany(5, "c1");
    await others[0]?.end("rate_limited", 5_000);
    expect(await pool.mark("c1", "disabled")).toEqual({ kind: "marked", in_flight: 5, changed: true });
    expect((await pool.renew(lease.lease_id, "c1", 9_000)).kind).toBe("renewed");
    expect(await lease.end("success")).toEqual({ kind: "released" });
    for (const [i, outcome] of (
      ["rate_limited", "exhausted", "auth_failed", "upstream_error"] as const
    ).entries())
      expect(await others[i + 1]?.end(outcome)).toEqual({ kind: "released" });
    expect(await state("c1")).toMatchObject({ status: "disabled", until_ms: 0, in_flight: 0, errors: 0 });
    await redis.later(DAY_MS);
    expect(await serves("c1")).toBe("disabled");
    await pool.put("c1", 2, { fingerprint: "new" });
    expect(await serves("c1")).toBe("disabled");
    await pool.mark("c1", "available");
    expect(await serves("c1")).toBe("granted");
  });

  test("where only a probe restores, a deadline that has passed does not; an enable does", async () => {
    const strict = healthKit(redis, settingsOf({ recovery: "probe" }));
    await strict.pool.put("c1", 1);
    await strict.call("c1", "rate_limited", 1_000);
    await redis.later(DAY_MS);
    expect(await strict.serves("c1")).toBe("rate_limited");
    expect(await strict.pool.allocate("l1", ["c1"])).toMatchObject({ kind: "no_capacity", due_in_ms: 0 });
    await strict.pool.mark("c1", "available");
    expect(await strict.serves("c1")).toBe("granted");
  });
});
