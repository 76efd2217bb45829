// The operators' verbs on a real Redis: a row per reply of mark, revoke, patch and configure, and the raw state that it leaves.
import { describe, expect, test } from "vitest";
import { defaultsOf, healthOf, limitsOf, readSettings } from "../../src/pools/settings.ts";
import { leaseKit } from "../support/lease.ts";
import { useRedis } from "../support/redis.ts";
import { settingsOf } from "./health-kit.ts";

const redis = useRedis();
const { pool, vip, state, own, dump, granted } = leaseKit(redis);
const registry = () => redis.raw.hgetall(pool.provider_key);
const config = (id: string) => redis.raw.hget(pool.config_key, id);

/** A refusal leaves every key as it was. */
async function changesNothing<T>(verb: () => Promise<T>): Promise<T> {
  const before = await dump();
  const reply = await verb();
  expect(await dump()).toEqual(before);
  return reply;
}

describe("mark", () => {
  test("marked: disabled stops grants, not leases; the pool has changed", async () => {
    await pool.put("c1", 3);
    await granted("l1", ["c1"]);
    await granted("l2", ["c1"]);
    const { seq = 0, fence } = await own();
    expect(await pool.mark("c1", "disabled")).toEqual({ kind: "marked", in_flight: 2, changed: true });
    expect(await state("c1")).toMatchObject({
      status: "disabled",
      until_ms: 0,
      in_flight: 2,
      benched_fence: fence,
    });
    expect(await own()).toMatchObject({ seq: seq + 1, in_flight: 2, capacity: 3, members: 1 });
    expect(await pool.allocate("l3", ["c1"])).toMatchObject({
      kind: "no_capacity",
      reasons: { disabled: 1 },
    });
  });

  test("marked: available clears every bench, and a streak that has not benched yet", async () => {
    for (const [i, outcome] of (
      ["rate_limited", "exhausted", "auth_failed", "upstream_error"] as const
    ).entries()) {
      await pool.put(outcome, 1);
      await granted(outcome, [outcome]);
      await pool.release(outcome, outcome, outcome);
      expect(await pool.mark(outcome, "available")).toEqual({ kind: "marked", in_flight: 0, changed: true });
      expect(await state(outcome)).toMatchObject({ status: "available", until_ms: 0, errors: 0 });
      expect((await own()).seq).toBe(2 * (i + 1));
    }
  });

  test.each(["available", "disabled"] as const)(
    "marked, unchanged: %s again writes nothing",
    async (status) => {
      await pool.put("c1", 1, { status });
      expect(await changesNothing(() => pool.mark("c1", status))).toEqual({
        kind: "marked",
        in_flight: 0,
        changed: false,
      });
    },
  );

  test("not_found and absent change nothing", async () => {
    expect(await changesNothing(() => pool.mark("c1", "disabled"))).toEqual({ kind: "absent" });
    await pool.put("c1", 1);
    expect(await changesNothing(() => pool.mark("c2", "disabled"))).toEqual({ kind: "not_found" });
  });
});

describe("revoke", () => {
  test("revoked: every lease is over at once, its unit free, and its holder told at the next renewal", async () => {
    await pool.put("c1", 2);
    await pool.put("c2", 1);
    const { fence: spared } = await granted("l0", ["c2"]);
    await granted("l1", ["c1"]);
    const { fence } = await granted("l2", ["c1"]);
    const { seq = 0 } = await own();
    expect(await pool.revoke("c1")).toEqual({ kind: "revoked", ended: 2 });
    expect(await state("c1")).toMatchObject({ status: "available", in_flight: 0, revoked_fence: fence });
    expect(await own()).toMatchObject({ seq: seq + 1, in_flight: 1, revoked: 2, fence });
    expect(await redis.raw.zcard(pool.leases_key)).toBe(3); // members leave at their term
    expect(await pool.renew("l1", "c1")).toEqual({ kind: "lease_lost", reason: "revoked" });
    expect(await pool.release("l2", "c1", "auth_failed")).toEqual({
      kind: "not_released",
      reason: "revoked",
    });
    expect(await pool.undo("l2")).toEqual({ kind: "not_held", reason: "revoked" });
    expect(await pool.allocate("l1", ["c1"])).toEqual({ kind: "lease_lost", reason: "revoked" });
    expect(await pool.renew("l0", "c2")).toMatchObject({ kind: "renewed" });
    expect(spared).toBeLessThan(fence);
    expect(await state("c1")).toMatchObject({ status: "available", in_flight: 0 });
  });

  test("its members free nothing at their term; leases granted since go on", async () => {
    await pool.put("c1", 2);
    await granted("old-1", ["c1"]);
    await granted("old-2", ["c1"]);
    await pool.revoke("c1");
    await granted("new-1", ["c1"], 5_000);
    await granted("new-2", ["c1"], 5_000);
    await redis.later(1_000);
    expect((await pool.allocate("l1", ["c1"])).kind).toBe("no_capacity"); // takes the old members away
    expect(await redis.raw.zcard(pool.leases_key)).toBe(2);
    expect(await state("c1")).toMatchObject({ in_flight: 2 });
    expect(await own()).toMatchObject({ in_flight: 2, revoked: 2, reclaimed: 0 });
    expect(await pool.release("new-1", "c1")).toEqual({ kind: "released" });
  });

  test("revoked again, or with nothing in flight: none ended, and the fence stands at the last grant", async () => {
    await pool.put("c1", 1);
    const { fence } = await granted("l1", ["c1"]);
    await pool.revoke("c1");
    expect(await pool.revoke("c1")).toEqual({ kind: "revoked", ended: 0 });
    expect(await own()).toMatchObject({ revoked: 1, in_flight: 0, seq: 3 });
    expect(await state("c1")).toMatchObject({ revoked_fence: fence, in_flight: 0 });
    expect((await granted("l2", ["c1"])).fence).toBe(fence + 1);
  });

  test("not_found and absent change nothing", async () => {
    expect(await changesNothing(() => pool.revoke("c1"))).toEqual({ kind: "absent" });
    await pool.put("c1", 1);
    expect(await changesNothing(() => pool.revoke("c2"))).toEqual({ kind: "not_found" });
  });
});

describe("configure", () => {
  const first = settingsOf({ max_lifetime_seconds: 2, reserved_capacity: 3, breaker: { probes: 2 } });
  const second = settingsOf({ recovery: "probe", breaker: { mode: "closed" } });

  test("configured: the whole of it for readers, and the parts that scripts read; the pool has changed", async () => {
    await pool.put("c1", 1);
    expect(await pool.configure(first)).toEqual({ kind: "configured" });
    expect(readSettings("default", await config("@settings"))).toEqual(first);
    expect(await redis.raw.hmget(pool.pool_key, "@limits", "@health")).toEqual([
      limitsOf(first),
      healthOf(first),
    ]);
    expect(await redis.raw.hget(pool.pool_key, "@limits")).toBe("1 2000 3 2 auto opportunistic");
    expect(await own()).toMatchObject({ seq: 2, members: 1, capacity: 1 });
    expect(await pool.configure(second, JSON.stringify(first))).toEqual({ kind: "configured" });
    expect(await redis.raw.hget(pool.pool_key, "@limits")).toBe("1 3600000 0 1 closed probe");
    await pool.put("c2", 1); // brings the defaults of a new pool along, which this is not
    expect(await redis.raw.hget(pool.pool_key, "@limits")).toBe("1 3600000 0 1 closed probe");
  });

  test("a shorter lifetime holds for the leases to come", async () => {
    await pool.put("c1", 2);
    const before = await granted("l1", ["c1"], 60_000);
    await pool.configure(first);
    const after = await granted("l2", ["c1"], 60_000);
    expect(after).toMatchObject({ expires_in_ms: 2_000, max_expires_at_ms: redis.now_ms + 2_000 });
    expect(await pool.renew("l1", "c1", 90_000)).toMatchObject({ expires_in_ms: 90_000 });
    expect(await pool.renew("l2", "c1", 90_000)).toMatchObject({ expires_in_ms: 2_000 });
    expect(before.max_expires_at_ms).toBe(redis.now_ms + defaultsOf("default").max_lifetime_seconds * 1000);
  });

  test("stale: of two operators who read the same, one wins and the other reads again", async () => {
    await pool.put("c1", 1);
    const replies = await Promise.all([pool.configure(first), pool.configure(second)]);
    expect(replies.map(({ kind }) => kind).sort()).toEqual(["configured", "stale"]);
    const kept = readSettings("default", await config("@settings"));
    expect(kept).toEqual(replies[0]?.kind === "configured" ? first : second);
    expect(await changesNothing(() => pool.configure(first, "{}"))).toEqual({ kind: "stale" });
  });

  test("absent: there is no such pool, and none is made", async () => {
    await vip.put("v1", 1);
    expect(await changesNothing(() => pool.configure(first))).toEqual({ kind: "absent" });
  });
});

test("no verb of one pool touches another of its provider", async () => {
  await vip.put("v1", 1);
  const before = await dump();
  await pool.put("c1", 1);
  await granted("l1", ["c1"]);
  const verbs = [
    () => pool.mark("c1", "disabled"),
    () => pool.revoke("c1"),
    () => pool.patch("c1", "{}"),
    () => pool.configure(defaultsOf("default")),
    () => pool.remove("c1"),
  ];
  const kinds: string[] = [];
  for (const verb of verbs) kinds.push((await verb()).kind);
  expect(kinds).toEqual(["marked", "revoked", "patched", "configured", "removed"]);
  const after = await dump();
  for (const key of [vip.pool_key, vip.config_key, vip.secrets_key]) expect(after[key]).toEqual(before[key]);
  expect(await registry()).toEqual({ "id:v1": "vip", "fp:print-of-v1": "vip 1" });
});
