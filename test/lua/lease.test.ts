// Each verb of a lease on a real Redis: a row per reply, and the raw state that it leaves.
import { describe, expect, test } from "vitest";
import { DEFAULTS } from "../../src/pools/settings.ts";
import { KEEP_MS, poolOf, poolStateOf, stateOf } from "../support/pool.ts";
import { keys, useRedis } from "../support/redis.ts";

const redis = useRedis();
const pool = poolOf(() => redis.store());
const vip = poolOf(() => redis.store(), "openai", "vip");

const state = async (id: string) => stateOf(await redis.raw.hget(pool.pool_key, id));
const own = async () => poolStateOf(await redis.raw.hget(pool.pool_key, "@pool"));
/** The whole database, to prove that a refusal changed nothing. */
const dump = async () => {
  const dumps: Record<string, unknown> = {};
  for (const key of (await redis.raw.keys("{*")).sort()) dumps[key] = (await redis.raw.dumpBuffer(key)).toString("hex");
  return dumps;
};
const granted = async (id: string, candidates: string[], lease_ms = 1000, at = pool) => {
  const reply = await at.allocate(id, candidates, lease_ms);
  if (reply.kind !== "granted") throw new Error(`not granted: ${reply.kind}`);
  return reply;
};

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
      max_expires_at_ms: now + DEFAULTS.max_lifetime_seconds * 1000,
      secret: "print-of-c1 k1.c1",
      replayed: false,
    });
    expect(await state("c1")).toMatchObject({ status: "available", in_flight: 1, used_at_ms: now });
    expect(await redis.raw.zrange(pool.leases_key, 0, -1, "WITHSCORES")).toEqual([`c1 ${reply.fence} l1`, String(now + 1000)]);
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

describe("the breaker", () => {
  const fail = async (n: number) => {
    for (let i = 0; i < n; i++) {
      await granted(`f${i}-${redis.now_ms}`, ["a", "b"]);
      const [member] = await redis.raw.zrange(pool.leases_key, 0, 0);
      const [credential = "", , lease = ""] = (member ?? "").split(" ");
      await pool.release(lease, credential, "upstream_error", 1);
    }
  };

  test("opens after five failures in a row, lets one probe through, and opens longer when that fails", async () => {
    await pool.put("a", 10);
    await pool.put("b", 10);
    for (let i = 0; i < 5; i++) {
      await fail(1);
      await redis.later(1000); // past the short bench of each failure
    }
    expect(await pool.allocate("l1", ["a", "b"])).toEqual({ kind: "breaker_open", due_in_ms: 14_000 });
    await redis.later(14_000);
    const probe = await granted("p1", ["a", "b"], 60_000);
    expect(await pool.allocate("l2", ["a", "b"])).toEqual({ kind: "breaker_open", due_in_ms: 0 });
    await pool.release("p1", probe.credential, "upstream_error");
    expect(await pool.allocate("l2", ["a", "b"])).toEqual({ kind: "breaker_open", due_in_ms: 30_000 });
    await redis.later(30_000);
    const second = await granted("p2", ["a", "b"], 60_000);
    await pool.release("p2", second.credential, "client_error"); // decides nothing, and gives its unit back
    const third = await granted("p3", ["a", "b"], 60_000);
    await pool.release("p3", third.credential, "success");
    for (const id of ["l3", "l4", "l5"]) expect((await pool.allocate(id, ["a", "b"])).kind).toBe("granted");
  });

  test("a probe whose lease expires gives its unit back", async () => {
    await pool.put("a", 10);
    for (let i = 0; i < 5; i++) {
      await fail(1);
      await redis.later(1000);
    }
    await redis.later(14_000);
    await granted("p1", ["a"], 1000);
    expect((await pool.allocate("l1", ["a"])).kind).toBe("breaker_open");
    await redis.later(1000);
    expect((await pool.allocate("l1", ["a"])).kind).toBe("granted");
  });
});

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
    expect(await redis.raw.zscore(pool.leases_key, (await redis.raw.zrange(pool.leases_key, 0, 0))[0] ?? "")).toBe(
      String(max_expires_at_ms),
    );
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
    expect(await pool.release("l1", "c9", "auth_failed")).toEqual({ kind: "not_released", reason: "mismatch" });
    expect(await vip.release("l1", "c1", "auth_failed")).toEqual({ kind: "not_released", reason: "mismatch" });
    expect(await pool.release("none", "c1", "auth_failed")).toEqual({ kind: "not_released", reason: "unknown" });
    expect(await pool.release("l2", "c1", "auth_failed")).toEqual({ kind: "not_released", reason: "released" });
    expect(await dump()).toEqual(before);
    await redis.later(1000);
    expect(await pool.release("l1", "c1", "auth_failed")).toEqual({ kind: "not_released", reason: "expired" });
    expect((await state("c1")).status).toBe("available");
  });

  test("revoked: a removed credential's late report revives nothing, also under the same id", async () => {
    await pool.put("c1", 1);
    await granted("l1", ["c1"]);
    await pool.remove("c1");
    expect(await pool.release("l1", "c1", "success")).toEqual({ kind: "not_released", reason: "revoked" });
    expect(await redis.raw.hget(pool.pool_key, "c1")).toBeNull();
    await pool.put("c1", 1);
    expect(await pool.release("l1", "c1", "auth_failed")).toEqual({ kind: "not_released", reason: "revoked" });
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
});
