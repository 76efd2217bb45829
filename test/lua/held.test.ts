// The verbs of a lease that is held, on a real Redis: a row per reply, and the raw state that it leaves.
import { describe, expect, test } from "vitest";
import { leaseKit } from "../support/lease.ts";
import { KEEP_MS } from "../support/pool.ts";
import { keys, useRedis } from "../support/redis.ts";

const redis = useRedis();
const { pool, vip, state, own, dump, granted } = leaseKit(redis);

describe("renew", () => {
  test("renewed: later, never earlier, never past the maximum", async () => {
    await pool.put("c1", 1);
    const { max_expires_at_ms } = await granted("l1", ["c1"], 1000);
    await redis.later(500);
    const now = redis.now_ms;
    expect(await pool.renew("l1", "c1", 3000)).toEqual({
      kind: "renewed",
      expires_at_ms: now + 3000,
      expires_in_ms: 3000,
      max_expires_at_ms,
    });
    expect(await pool.renew("l1", "c1", 10)).toMatchObject({ expires_at_ms: now + 3000 });
    expect(await pool.renew("l1", "c1", 3_600_000)).toMatchObject({ expires_at_ms: max_expires_at_ms });
    expect(
      await redis.raw.zscore(pool.leases_key, (await redis.raw.zrange(pool.leases_key, "0", "0"))[0] ?? ""),
    ).toBe(String(max_expires_at_ms));
  });

  test("lease_lost says why", async () => {
    await pool.put("c1", 2);
    await vip.put("v1", 1);
    await granted("l1", ["c1"]);
    expect(await pool.renew("l1", "c2")).toEqual({ kind: "lease_lost", reason: "mismatch" });
    expect(await vip.renew("l1", "c1")).toEqual({ kind: "lease_lost", reason: "mismatch" });
    expect(await pool.renew("none", "c1")).toEqual({ kind: "lease_lost", reason: "unknown" });
    await redis.later(1000);
    expect(await pool.renew("l1", "c1")).toEqual({ kind: "lease_lost", reason: "expired" });
    await granted("l2", ["c1"]);
    await pool.release("l2", "c1");
    expect(await pool.renew("l2", "c1")).toEqual({ kind: "lease_lost", reason: "released" });
    await granted("l3", ["c1"]);
    await pool.remove("c1");
    expect(await pool.renew("l3", "c1")).toEqual({ kind: "lease_lost", reason: "revoked" });
    expect((await own()).lost).toBe(4); // those that named this pool and credential rightly
  });

  test("absent: neither the pool nor the lease", async () => {
    expect(await pool.renew("l1", "c1")).toEqual({ kind: "absent" });
  });
});

describe("release", () => {
  test("released: the unit is back at once, once; the record remembers the end for a while", async () => {
    await pool.put("c1", 1);
    const { fence, max_expires_at_ms } = await granted("l1", ["c1"]);
    expect(await pool.release("l1", "c1")).toEqual({ kind: "released" });
    expect(await pool.release("l1", "c1")).toEqual({ kind: "not_released", reason: "released" });
    expect((await state("c1")).in_flight).toBe(0);
    expect(await redis.raw.zcard(pool.leases_key)).toBe(0);
    expect(await redis.raw.get(keys.lease("l1"))).toContain(`c1 ${fence} ${max_expires_at_ms} released`);
    expect(Number(await redis.raw.pexpiretime(keys.lease("l1")))).toBe(redis.now_ms + KEEP_MS);
  });

  test("not_released says why and changes nothing", async () => {
    await pool.put("c1", 2);
    await vip.put("v1", 1);
    await granted("l1", ["c1"]);
    await granted("l2", ["c1"]);
    await pool.release("l2", "c1", "success");
    const before = await dump();
    expect(await pool.release("l1", "c9", "auth_failed")).toEqual({
      kind: "not_released",
      reason: "mismatch",
    });
    expect(await vip.release("l1", "c1", "auth_failed")).toEqual({
      kind: "not_released",
      reason: "mismatch",
    });
    expect(await pool.release("none", "c1", "auth_failed")).toEqual({
      kind: "not_released",
      reason: "unknown",
    });
    expect(await pool.release("l2", "c1", "auth_failed")).toEqual({
      kind: "not_released",
      reason: "released",
    });
    expect(await dump()).toEqual(before);
    await redis.later(1000);
    expect(await pool.release("l1", "c1", "auth_failed")).toEqual({
      kind: "not_released",
      reason: "expired",
    });
    expect((await state("c1")).status).toBe("available");
  });

  test("revoked: a removed credential's late report revives nothing, also under the same id", async () => {
    await pool.put("c1", 1);
    await granted("l1", ["c1"]);
    await pool.remove("c1");
    expect(await pool.release("l1", "c1", "success")).toEqual({ kind: "not_released", reason: "revoked" });
    expect(await redis.raw.hget(pool.pool_key, "c1")).toBeNull();
    await pool.put("c1", 1);
    expect(await pool.release("l1", "c1", "auth_failed")).toEqual({
      kind: "not_released",
      reason: "revoked",
    });
    expect(await state("c1")).toMatchObject({ status: "available", in_flight: 0 });
  });

  test("absent: neither the pool nor the lease", async () => {
    expect(await pool.release("l1", "c1")).toEqual({ kind: "absent" });
  });
});

describe("undo", () => {
  test("undone: as if it had not been granted, so the same id may be granted again", async () => {
    await pool.put("c1", 1);
    await pool.put("c2", 1);
    const { fence } = await granted("l1", ["c1"]);
    expect(await pool.undo("l1", true)).toEqual({ kind: "undone" });
    expect(await state("c1")).toMatchObject({ status: "auth_failed", until_ms: 0, in_flight: 0 });
    expect(await redis.raw.exists(keys.lease("l1"))).toBe(0);
    expect(await redis.raw.zcard(pool.leases_key)).toBe(0);
    const again = await granted("l1", ["c1", "c2"]);
    expect(again).toMatchObject({ credential: "c2", replayed: false });
    expect(again.fence).toBeGreaterThan(fence);
    expect(await pool.undo("l1")).toEqual({ kind: "undone" });
    expect(await state("c2")).toMatchObject({ status: "available", in_flight: 0 });
  });

  test("not_held says why and changes nothing", async () => {
    await pool.put("c1", 1);
    await granted("l1", ["c1"]);
    await pool.release("l1", "c1");
    const before = await dump();
    expect(await pool.undo("l1")).toEqual({ kind: "not_held", reason: "released" });
    expect(await pool.undo("none")).toEqual({ kind: "not_held", reason: "unknown" });
    expect(await vip.undo("l1")).toEqual({ kind: "not_held", reason: "mismatch" });
    expect(await dump()).toEqual(before);
  });

  test("not_held, unknown: with spend_ms a grant that comes later finds its id spent, for so long", async () => {
    await pool.put("c1", 1);
    expect(await pool.undo("late", false, 5000)).toEqual({ kind: "not_held", reason: "unknown" });
    expect(await vip.undo("late", false, 5000)).toEqual({ kind: "not_held", reason: "mismatch" });
    expect(await pool.allocate("late", ["c1"])).toEqual({ kind: "conflict" });
    expect(await state("c1")).toMatchObject({ in_flight: 0 });
    expect(Number(await redis.raw.pexpiretime(keys.lease("late")))).toBe(redis.now_ms + 5000);
    await redis.later(5000);
    expect((await granted("late", ["c1"])).replayed).toBe(false);
  });
});
