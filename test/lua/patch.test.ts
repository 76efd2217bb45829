// pool/patch on a real Redis: a row per reply, and the raw state that it leaves.
import { describe, expect, test } from "vitest";
import { leaseKit } from "../support/lease.ts";
import { useRedis } from "../support/redis.ts";

const redis = useRedis();
const { pool, vip, state, own, dump, granted } = leaseKit(redis);
const stored = async (id: string) => [
  await redis.raw.hget(pool.config_key, id),
  await redis.raw.hget(pool.secrets_key, id),
];

describe("patched", () => {
  test("the configuration alone: capacity, secret and state stay, and the pool has changed", async () => {
    await pool.put("c1", 3);
    await granted("l1", ["c1"]);
    const before = await state("c1");
    expect(await pool.patch("c1", "{}", { config: '{"weight":2}' })).toEqual({ kind: "patched" });
    expect(await stored("c1")).toEqual(['{"weight":2}', "print-of-c1 k1.c1"]);
    expect(await state("c1")).toEqual(before);
    expect(await own()).toMatchObject({ seq: 2, members: 1, capacity: 3, in_flight: 1 });
  });

  test("a capacity below what is in flight: leases go on, and nothing is granted until enough have ended", async () => {
    await pool.put("c1", 3);
    await pool.put("c2", 4);
    for (const id of ["l1", "l2", "l3"]) await granted(id, ["c1"], 60_000);
    await pool.patch("c1", "{}", { capacity: 1 });
    expect(await state("c1")).toMatchObject({ capacity: 1, in_flight: 3 });
    expect(await own()).toMatchObject({ capacity: 5, in_flight: 3 });
    for (const id of ["l1", "l2"]) {
      await pool.release(id, "c1");
      expect(await pool.allocate("next", ["c1"])).toMatchObject({
        kind: "no_capacity",
        reasons: { full: 1 },
      });
    }
    expect(await pool.renew("l3", "c1")).toMatchObject({ kind: "renewed" });
    await pool.release("l3", "c1");
    await granted("next", ["c1"]);
    await pool.patch("c1", "{}", { capacity: 2 });
    await granted("more", ["c1"]);
    expect(await own()).toMatchObject({ capacity: 6, in_flight: 2 });
  });

  test("a secret: registered in place of the old one, and auth_failed and exhausted end", async () => {
    for (const [outcome, after] of [
      ["auth_failed", "available"],
      ["exhausted", "available"],
      ["rate_limited", "rate_limited"],
    ] as const) {
      await pool.put(outcome, 1);
      await granted(outcome, [outcome]);
      await pool.release(outcome, outcome, outcome);
      const secret = { fingerprint: `new-${outcome}`, sealed: `k1.new-${outcome}` };
      expect(await pool.patch(outcome, "{}", secret)).toEqual({ kind: "patched" });
      expect((await state(outcome)).status).toBe(after);
      expect(await stored(outcome)).toEqual(["{}", `new-${outcome} k1.new-${outcome}`]);
      const registry = await redis.raw.hgetall(pool.provider_key);
      expect(registry[`fp:new-${outcome}`]).toBe("default 1");
      expect(registry[`fp:print-of-${outcome}`]).toBeUndefined();
    }
  });

  test("the same secret sealed anew heals nothing", async () => {
    await pool.put("c1", 1);
    await granted("l1", ["c1"]);
    await pool.release("l1", "c1", "auth_failed");
    await pool.patch("c1", "{}", { fingerprint: "print-of-c1", sealed: "k2.c1" });
    expect((await state("c1")).status).toBe("auth_failed");
    expect(await stored("c1")).toEqual(["{}", "print-of-c1 k2.c1"]);
    expect((await redis.raw.hgetall(pool.provider_key))["fp:print-of-c1"]).toBe("default 1");
  });
});

describe("refused, and nothing is changed", () => {
  test("stale: of two operators who read the same, one wins", async () => {
    await pool.put("c1", 1);
    const replies = await Promise.all([
      pool.patch("c1", "{}", { config: "{1}" }),
      pool.patch("c1", "{}", { config: "{2}", capacity: 5 }),
    ]);
    expect(replies.map(({ kind }) => kind).sort()).toEqual(["patched", "stale"]);
    const first_won = replies[0]?.kind === "patched";
    expect((await stored("c1"))[0]).toBe(first_won ? "{1}" : "{2}");
    expect((await state("c1")).capacity).toBe(first_won ? 1 : 5);
    const before = await dump();
    expect(await pool.patch("c1", "{}", { capacity: 9, fingerprint: "x", sealed: "k1.x" })).toEqual({
      kind: "stale",
    });
    expect(await dump()).toEqual(before);
  });

  test("elsewhere: the secret is in another pool of the provider; not when it is in this one", async () => {
    await pool.put("c1", 1);
    await pool.put("c2", 1);
    await vip.put("v1", 1);
    const before = await dump();
    expect(
      await pool.patch("c1", "{}", { capacity: 9, fingerprint: "print-of-v1", sealed: "k1.v1" }),
    ).toEqual({
      kind: "elsewhere",
      what: "secret",
      pool: "vip",
    });
    expect(await dump()).toEqual(before);
    expect(await pool.patch("c1", "{}", { fingerprint: "print-of-c2", sealed: "k1.c2" })).toEqual({
      kind: "patched",
    });
    expect((await redis.raw.hgetall(pool.provider_key))["fp:print-of-c2"]).toBe("default 2");
  });

  test("not_found and absent", async () => {
    expect(await pool.patch("c1", "{}")).toEqual({ kind: "absent" });
    await pool.put("c1", 1);
    const before = await dump();
    expect(await pool.patch("c2", "{}", { capacity: 9 })).toEqual({ kind: "not_found" });
    expect(await dump()).toEqual(before);
  });
});
