// lease/allocate on a real Redis: a row per reply, and the raw state that it leaves.
import { describe, expect, test } from "vitest";
import { defaultsOf } from "../../src/pools/settings.ts";
import { leaseKit } from "../support/lease.ts";
import { KEEP_MS } from "../support/pool.ts";
import { keys, useRedis } from "../support/redis.ts";

const redis = useRedis();
const { pool, vip, state, own, dump, granted } = leaseKit(redis);

describe("allocate", () => {
  test("granted: one unit, one member, one record that outlives the longest term", async () => {
    await pool.put("c1", 2);
    const now = redis.now_ms;
    const reply = await granted("l1", ["c1"]);
    expect(reply).toEqual({
      kind: "granted",
      credential: "c1",
      fence: now * 1000 + 1,
      expires_at_ms: now + 1000,
      expires_in_ms: 1000,
      max_expires_at_ms: now + defaultsOf("default").max_lifetime_seconds * 1000,
      secret: "print-of-c1 k1.c1",
      replayed: false,
    });
    expect(await state("c1")).toMatchObject({ status: "available", in_flight: 1, used_at_ms: now });
    expect(await redis.raw.zrange(pool.leases_key, "0", "-1", "WITHSCORES")).toEqual([
      `c1 ${reply.fence} l1`,
      String(now + 1000),
    ]);
    expect(await redis.raw.get(keys.lease("l1"))).toBe(
      `1 openai:default c1 ${reply.fence} ${reply.max_expires_at_ms} held ${now} args worker-1`,
    );
    expect(Number(await redis.raw.pexpiretime(keys.lease("l1")))).toBe(reply.max_expires_at_ms + KEEP_MS);
  });

  test("the first free of the list; one that is not a member, benched or full is passed over", async () => {
    for (const id of ["full", "benched", "free", "fifth"]) await pool.put(id, 1);
    await granted("x1", ["full"]);
    await granted("x2", ["benched"]);
    await pool.release("x2", "benched", "auth_failed");
    expect((await granted("l1", ["gone", "full", "benched", "free"])).credential).toBe("free");
    expect((await granted("l2", ["gone", "full", "benched", "free", "fifth"])).credential).toBe("fifth");
  });

  test("no_capacity: counts by reason, the earliest moment something is due back, and only a counter changed", async () => {
    for (const id of ["a", "b", "c"]) await pool.put(id, 1);
    await granted("x", ["a"], 9000);
    await granted("y", ["b"], 9000);
    await pool.release("y", "b", "rate_limited", 5000);
    await granted("z", ["c"], 9000);
    await pool.release("z", "c", "auth_failed");
    const before = { ...(await dump()), [pool.pool_key]: "" };
    const { refused = 0 } = await own();
    expect(await pool.allocate("l1", ["a", "b", "c", "gone"])).toEqual({
      kind: "no_capacity",
      due_in_ms: 5000,
      reasons: { full: 1, rate_limited: 1, auth_failed: 1, removed: 1 },
      seq: 3,
    });
    expect({ ...(await dump()), [pool.pool_key]: "" }).toEqual(before);
    expect((await own()).refused).toBe(refused + 1);
  });

  test("a lease's end is the moment that is due when nothing is benched; without candidates nothing is", async () => {
    await pool.put("a", 1);
    await granted("x", ["a"], 700);
    expect(await pool.allocate("l1", ["a"])).toMatchObject({ kind: "no_capacity", due_in_ms: 700 });
    await pool.release("x", "a");
    expect(await pool.allocate("l1", [])).toMatchObject({ kind: "no_capacity", due_in_ms: 0, reasons: {} });
  });

  test("replayed: the same lease, also from a full pool; other arguments, another pool and an end are told apart", async () => {
    await pool.put("c1", 1);
    await vip.put("v1", 1);
    const first = await granted("l1", ["c1"]);
    expect(await pool.allocate("l1", ["c1"])).toEqual({ ...first, replayed: true });
    await redis.later(400);
    expect(await pool.allocate("l1", [])).toEqual({ ...first, expires_in_ms: 600, replayed: true });
    const before = { ...(await dump()) };
    expect(await pool.allocate("l1", ["c1"], 1000, "other")).toEqual({ kind: "conflict" });
    expect(await vip.allocate("l1", ["v1"])).toEqual({ kind: "elsewhere", home: "openai:default" });
    expect(await dump()).toEqual(before);
    await pool.release("l1", "c1");
    expect(await pool.allocate("l1", ["c1"])).toEqual({ kind: "lease_lost", reason: "released" });
    await granted("l2", ["c1"]);
    await redis.later(1000);
    expect(await pool.allocate("l2", ["c1"])).toEqual({ kind: "lease_lost", reason: "expired" });
    await redis.later(KEEP_MS);
    expect((await granted("l1", ["c1"])).replayed).toBe(false); // forgotten, as promised
  });

  test("an expired lease's unit is taken back when it is needed, and counted", async () => {
    await pool.put("c1", 2);
    await granted("x", ["c1"]);
    await granted("y", ["c1"]);
    await redis.later(1000);
    expect((await state("c1")).in_flight).toBe(2);
    expect((await granted("l1", ["c1"])).credential).toBe("c1");
    expect((await state("c1")).in_flight).toBe(1);
    expect(await redis.raw.zcard(pool.leases_key)).toBe(1);
    expect(await own()).toMatchObject({ members: 1, capacity: 2, in_flight: 1, granted: 3, reclaimed: 2 });
  });

  test("reclaim_due: 64 were taken back, none of them useful; the next call goes on", async () => {
    await pool.put("big", 200);
    await pool.put("small", 1);
    for (let i = 0; i < 100; i++) await granted(`b${i}`, ["big"], 1000);
    await granted("s", ["small"], 1001);
    await redis.later(2000);
    expect(await pool.allocate("l1", ["small"])).toEqual({ kind: "reclaim_due" });
    expect((await state("big")).in_flight).toBe(36);
    expect((await granted("l1", ["small"])).credential).toBe("small");
    expect((await state("big")).in_flight).toBe(0);
  });

  test("a bench ends at its deadline, not a millisecond before; an empty deadline never ends", async () => {
    await pool.put("c1", 1);
    await granted("x", ["c1"]);
    await pool.release("x", "c1", "rate_limited", 5000);
    await redis.later(4999);
    expect((await pool.allocate("l1", ["c1"])).kind).toBe("no_capacity");
    await redis.later(1);
    expect((await granted("l1", ["c1"])).credential).toBe("c1");
    const text = (await redis.raw.hget(pool.pool_key, "c1")) ?? "";
    await redis.raw.hset(pool.pool_key, "c1", text.replace("1 available 0 1 1", "1 cooling 0 1 0"));
    expect(await pool.allocate("l2", ["c1"])).toMatchObject({ kind: "no_capacity", reasons: { cooling: 1 } });
  });

  test("absent: a pool that is not there", async () => {
    expect(await pool.allocate("l1", ["c1"])).toEqual({ kind: "absent" });
    expect(await dump()).toEqual({});
  });

  test("a value that cannot be read changes nothing and says nothing of itself", async () => {
    await pool.put("c1", 1);
    await redis.raw.hset(pool.pool_key, "c1", "2 available secret-looking");
    const before = await dump();
    await expect(pool.allocate("l1", ["c1"])).rejects.toThrow(/cannot be read/);
    await expect(pool.allocate("l1", ["c1"])).rejects.not.toThrow(/secret-looking/);
    expect(await dump()).toEqual(before);
  });
});
