// pool/reclaim on a real Redis: what the sweeper takes back, how much at a time, and what must stay.
import { describe, expect, test } from "vitest";
import { leaseKit } from "../support/lease.ts";
import { KEEP_MS } from "../support/pool.ts";
import { keys, useRedis } from "../support/redis.ts";
import { healthKit, settingsOf } from "./health-kit.ts";
import { checkAfterEach } from "./ledger-kit.ts";

const redis = useRedis();
const { pool, state, own, dump, granted } = leaseKit(redis);
const members = () => redis.raw.zcard(pool.leases_key);

async function changesNothing(leases: number) {
  const before = await dump();
  expect(await pool.reclaim()).toEqual({ kind: "reclaimed", leases });
  expect(await dump()).toEqual(before);
}

describe("reclaimed", () => {
  test("64 at a time, the oldest first, until none is left: one script never holds the pool for long", async () => {
    await pool.put("c1", 1000);
    for (let i = 0; i < 150; i++) await granted(`l${i}`, ["c1"], 1000 + i);
    await redis.later(2000);
    for (const [leases, left] of [
      [64, 86],
      [64, 22],
      [22, 0],
    ] as const) {
      expect(await pool.reclaim()).toEqual({ kind: "reclaimed", leases });
      expect([await members(), (await state("c1")).in_flight, (await own()).in_flight]).toEqual([
        left,
        left,
        left,
      ]);
      const first = (await redis.raw.zrange(pool.leases_key, "0", "0"))[0];
      if (left > 0) expect(first).toMatch(new RegExp(` l${150 - left}$`));
    }
    expect(await own()).toMatchObject({ granted: 150, reclaimed: 150, released: 0, seq: 1 });
    await changesNothing(0);
  });

  test("exactly 64: the next one finds none", async () => {
    await pool.put("c1", 100);
    for (let i = 0; i < 64; i++) await granted(`l${i}`, ["c1"]);
    await redis.later(1000);
    expect(await pool.reclaim()).toEqual({ kind: "reclaimed", leases: 64 });
    await changesNothing(0);
  });

  test("only what is over: not a millisecond early, not what was renewed or released", async () => {
    await pool.put("c1", 10);
    await granted("ends", ["c1"], 1000);
    await granted("renewed", ["c1"], 1000);
    await granted("released", ["c1"], 1000);
    await pool.renew("renewed", "c1", 5000);
    await pool.release("released", "c1");
    await redis.later(999);
    await changesNothing(0);
    await redis.later(1);
    expect(await pool.reclaim()).toEqual({ kind: "reclaimed", leases: 1 });
    expect(await state("c1")).toMatchObject({ in_flight: 1 });
    expect(await pool.renew("renewed", "c1", 5000)).toMatchObject({ kind: "renewed" });
    expect(await pool.release("ends", "c1")).toEqual({ kind: "not_released", reason: "expired" });
  });

  test("of several credentials each gets its own back, and its health, bench and other fields stay", async () => {
    for (const [id, capacity] of [
      ["c1", 5],
      ["c2", 5],
      ["c3", 5],
    ] as const) {
      await pool.put(id, capacity);
    }
    await granted("x", ["c2"]);
    await pool.release("x", "c2", "rate_limited", 60_000);
    await pool.mark("c2", "available");
    for (const [id, count] of [
      ["c1", 1],
      ["c2", 3],
      ["c3", 2],
    ] as const) {
      for (let i = 0; i < count; i++) await granted(`${id}-${i}`, [id]);
    }
    await pool.mark("c3", "disabled");
    const before = await Promise.all(["c1", "c2", "c3"].map(state));
    await redis.later(1000);
    expect(await pool.reclaim()).toEqual({ kind: "reclaimed", leases: 6 });
    const after = await Promise.all(["c1", "c2", "c3"].map(state));
    expect(after).toEqual(before.map((one) => ({ ...one, in_flight: 0 })));
    expect(await own()).toMatchObject({ in_flight: 0, reclaimed: 6 });
  });

  test("the record stays as long as it was promised: its holder is told why", async () => {
    await pool.put("c1", 1);
    const { max_expires_at_ms } = await granted("l1", ["c1"]);
    await redis.later(1000);
    await pool.reclaim();
    expect(await pool.renew("l1", "c1")).toEqual({ kind: "lease_lost", reason: "expired" });
    expect(Number(await redis.raw.pexpiretime(keys.lease("l1")))).toBe(max_expires_at_ms + KEEP_MS);
  });
});

describe("what frees nothing", () => {
  test("revoked ones: their units were free already, and those granted since stay in flight", async () => {
    await pool.put("c1", 2);
    await granted("old-1", ["c1"]);
    await granted("old-2", ["c1"]);
    await pool.revoke("c1");
    await granted("new-1", ["c1"], 500);
    await granted("new-2", ["c1"], 60_000);
    await redis.later(1000);
    expect(await pool.reclaim()).toEqual({ kind: "reclaimed", leases: 3 });
    expect(await state("c1")).toMatchObject({ in_flight: 1 });
    expect(await own()).toMatchObject({ in_flight: 1, revoked: 2, reclaimed: 1 });
    expect(await members()).toBe(1);
  });

  test("those of a credential that was removed, also when it is there again", async () => {
    await pool.put("c1", 2);
    await pool.put("c2", 2);
    await granted("l1", ["c1"]);
    await granted("l2", ["c2"]);
    await pool.remove("c1");
    await pool.remove("c2");
    await pool.put("c2", 2);
    await granted("l3", ["c2"], 60_000);
    await redis.later(1000);
    expect(await pool.reclaim()).toEqual({ kind: "reclaimed", leases: 2 });
    expect(await redis.raw.hexists(pool.pool_key, "c1")).toBe(0);
    expect(await state("c2")).toMatchObject({ in_flight: 1 });
    expect(await own()).toMatchObject({ in_flight: 1, reclaimed: 0, revoked: 2 });
  });

  test("absent: no pool is made", async () => {
    expect(await pool.reclaim()).toEqual({ kind: "absent" });
    expect(await dump()).toEqual({});
  });
});

test("a probe of the breaker comes back: a caller that died while it asked does not keep the pool shut", async () => {
  const kit = healthKit(redis, settingsOf({ breaker: { failures: 1, open_ms: 5_000, probes: 2 } }));
  await kit.pool.put("c1", 100);
  await granted("before", ["c1"], 20_000);
  await kit.call("c1", "upstream_error");
  await redis.later(5_000);
  for (const id of ["p1", "p2"]) await granted(id, ["c1"], 1_000);
  expect(await kit.serves("c1")).toBe("breaker_open");
  await redis.later(1_000);
  expect(await pool.reclaim()).toEqual({ kind: "reclaimed", leases: 2 });
  const out = async () => (await redis.raw.hget(pool.pool_key, "@breaker"))?.split(" ")[4];
  expect(await out()).toBe("0");
  await redis.later(20_000);
  expect(await pool.reclaim()).toEqual({ kind: "reclaimed", leases: 1 }); // granted before it opened: no probe
  expect(await out()).toBe("0");
  for (const id of ["p3", "p4"]) await granted(id, ["c1"], 1_000);
  expect(await kit.serves("c1")).toBe("breaker_open");
});

checkAfterEach(redis);
