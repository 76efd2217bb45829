// pool/put and pool/remove on a real Redis: a row per reply, and the raw state that it leaves.
import { describe, expect, test } from "vitest";
import { leaseKit } from "../support/lease.ts";
import { poolOf } from "../support/pool.ts";
import { keys, useRedis } from "../support/redis.ts";

const redis = useRedis();
const { pool, vip, state, own, dump, granted } = leaseKit(redis);
const other = poolOf(() => redis.store(), "anthropic");

const registry = () => redis.raw.hgetall(pool.provider_key);

describe("put", () => {
  test("created: state, configuration, secret, registry and index, and the pool with its settings", async () => {
    expect(await pool.put("c1", 3, { config: '{"kind":"api_key"}' })).toEqual({ kind: "created" });
    expect(await state("c1")).toMatchObject({ status: "available", capacity: 3, in_flight: 0, success: -1 });
    expect(await own()).toMatchObject({
      fence: redis.now_ms * 1000,
      seq: 1,
      members: 1,
      capacity: 3,
      in_flight: 0,
    });
    expect(await redis.raw.hget(pool.config_key, "c1")).toBe('{"kind":"api_key"}');
    expect(await redis.raw.hget(pool.secrets_key, "c1")).toBe("print-of-c1 k1.c1");
    expect(await registry()).toEqual({ "id:c1": "default", "fp:print-of-c1": "default 1" });
    expect(await redis.raw.hgetall(keys.index("pools"))).toEqual({ "openai:default": String(redis.now_ms) });
    expect(await redis.raw.hget(pool.pool_key, "@limits")).toBe("1 3600000 0 1 auto opportunistic");
  });

  test("unchanged: the same again writes nothing, although it was sealed anew", async () => {
    await pool.put("c1", 3);
    const before = await dump();
    expect(await pool.put("c1", 3, { sealed: "k1.sealed-anew" })).toEqual({ kind: "unchanged" });
    expect(await dump()).toEqual(before);
  });

  test("updated: capacity, configuration, secret or sealing key; what it carries stays", async () => {
    await pool.put("c1", 3);
    await granted("l1", ["c1"]);
    expect(await pool.put("c1", 1)).toEqual({ kind: "updated" });
    expect(await state("c1")).toMatchObject({ capacity: 1, in_flight: 1 });
    expect(await pool.put("c1", 1, { config: "{1}" })).toEqual({ kind: "updated" });
    expect(await pool.put("c1", 1, { config: "{1}", sealed: "k2.c1" })).toEqual({ kind: "updated" });
    expect(await pool.put("c1", 1, { config: "{1}", sealed: "k2.x", fingerprint: "new" })).toEqual({
      kind: "updated",
    });
    expect(await registry()).toEqual({ "id:c1": "default", "fp:new": "default 1" });
    expect(await own()).toMatchObject({ seq: 5, members: 1, capacity: 1, in_flight: 1 });
    expect(await pool.release("l1", "c1")).toEqual({ kind: "released" });
  });

  test("a changed secret ends auth_failed and exhausted, and no other bench", async () => {
    for (const [outcome, after] of [
      ["auth_failed", "available"],
      ["exhausted", "available"],
      ["rate_limited", "rate_limited"],
    ] as const) {
      await pool.put(outcome, 1);
      await granted(outcome, [outcome]);
      await pool.release(outcome, outcome, outcome);
      await pool.put(outcome, 1, { fingerprint: `new-${outcome}` });
      expect((await state(outcome)).status).toBe(after);
    }
  });

  test("elsewhere: an id or a secret that is in another pool of the provider changes nothing", async () => {
    await pool.put("c1", 1);
    const before = await dump();
    expect(await vip.put("c1", 1, { fingerprint: "x" })).toEqual({
      kind: "elsewhere",
      what: "key_id",
      pool: "default",
    });
    expect(await vip.put("v1", 1, { fingerprint: "print-of-c1" })).toEqual({
      kind: "elsewhere",
      what: "secret",
      pool: "default",
    });
    expect(await dump()).toEqual(before);
    expect(await other.put("c1", 1)).toEqual({ kind: "created" }); // another provider's is another credential
  });

  test("full: a pool has a bound", async () => {
    await pool.put("c1", 1);
    const text = (await redis.raw.hget(pool.pool_key, "@pool")) ?? "";
    await redis.raw.hset(pool.pool_key, "@pool", text.replace(/^(1 \d+ \d+) 1 /, "$1 10000 "));
    expect(await pool.put("c2", 1)).toEqual({ kind: "full", members: 10_000 });
    expect(await pool.put("c1", 2)).toEqual({ kind: "updated" });
  });

  test("a secret that two credentials of a pool share stays known until the last of them goes", async () => {
    await pool.put("c1", 1, { fingerprint: "same" });
    await pool.put("c2", 1, { fingerprint: "same" });
    expect((await registry())["fp:same"]).toBe("default 2");
    await pool.remove("c1");
    expect((await vip.put("v1", 1, { fingerprint: "same" })).kind).toBe("elsewhere");
    await pool.put("c2", 1, { fingerprint: "changed" });
    expect((await vip.put("v1", 1, { fingerprint: "same" })).kind).toBe("created");
  });

  test("a status of its own only when it is new", async () => {
    await pool.put("c1", 1, { status: "pending" });
    expect((await pool.allocate("l1", ["c1"])).kind).toBe("no_capacity");
    await pool.put("c1", 2, { status: "available" });
    expect((await state("c1")).status).toBe("pending");
  });
});

describe("remove", () => {
  test("removed: nothing of it is left, and how many leases it ended is said", async () => {
    await pool.put("c1", 2);
    await pool.put("c2", 1);
    await granted("l1", ["c1"]);
    await granted("l2", ["c1"]);
    expect(await pool.remove("c1")).toEqual({ kind: "removed", ended: 2 });
    for (const key of [pool.pool_key, pool.config_key, pool.secrets_key]) {
      expect(await redis.raw.hexists(key, "c1")).toBe(0);
    }
    expect(await registry()).toEqual({ "id:c2": "default", "fp:print-of-c2": "default 1" });
    expect(await own()).toMatchObject({ members: 1, capacity: 1, in_flight: 0 });
  });

  test("added again under the same id, it owes nothing to its old leases, and fences grow", async () => {
    await pool.put("c1", 1);
    const { fence } = await granted("l1", ["c1"]);
    await pool.remove("c1");
    await pool.put("c1", 1);
    const again = await granted("l2", ["c1"]);
    expect(again.fence).toBeGreaterThan(fence);
    await redis.later(1000);
    await granted("l3", ["c1"]); // reclaims both old members; only one of them held a unit
    expect(await state("c1")).toMatchObject({ in_flight: 1 });
    expect(await own()).toMatchObject({ in_flight: 1, reclaimed: 1 });
  });

  test("not_found and absent change nothing", async () => {
    expect(await pool.remove("c1")).toEqual({ kind: "absent" });
    await pool.put("c1", 1);
    const before = await dump();
    expect(await pool.remove("c2")).toEqual({ kind: "not_found" });
    expect(await dump()).toEqual(before);
  });
});
