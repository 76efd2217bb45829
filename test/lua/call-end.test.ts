// How a call goes on and ends: a stream cut off, a unit that is lost, or money charged twice, if these failed.
import { beforeEach, describe, expect, test } from "vitest";
import { callsOf } from "../support/call.ts";
import { dumpOf } from "../support/lease.ts";
import { useRedis } from "../support/redis.ts";
import { callKit } from "./call-kit.ts";

const redis = useRedis();
const { ledger, pool, call, vip, alice, tenant, own, state, members, lastEntry } = callKit(redis);

beforeEach(async () => {
  await ledger.put();
  await ledger.putSub("alice");
  await ledger.adjust("alice", "start", "grant", 100);
  await pool.put("c1", 1);
  expect((await call.admit("alice", "k1", 60, ["c1"], { metadata: '{"n":1}' })).kind).toBe("admitted");
});

describe("renew", () => {
  test("both get more time, never less; what has accrued is kept", async () => {
    await redis.later(100_000);
    const renewed = await call.renew("k1", "c1", 120_000, 0, 7);
    const ends = redis.now_ms + 120_000;
    expect(renewed).toEqual({
      kind: "renewed",
      expires_at_ms: ends,
      expires_in_ms: 120_000,
      max_expires_at_ms: expect.any(Number),
      amount: 60,
      accrued: 7,
    });
    expect(await call.renew("k1", "c1", 1, 0, 3)).toMatchObject({ expires_at_ms: ends, accrued: 7 });
    expect(await redis.raw.zscore(ledger.due_key, "hold acme k1")).toBe(String(ends));
  });

  test("the hold grows by what there is, and a refused growth changes nothing", async () => {
    expect(await call.renew("k1", "c1", 120_000, 90)).toMatchObject({ kind: "renewed", amount: 90 });
    const before = await alice();
    expect(await call.renew("k1", "c1", 999_000, 200)).toEqual({
      kind: "exhausted",
      scope: "account",
      requested: 110,
      available: 10,
    });
    expect(await alice()).toEqual(before);
    expect(await redis.raw.zscore(ledger.due_key, "hold acme k1")).toBe(String(redis.now_ms + 120_000));
  });

  test("a lease that is over is lost, and its holder learns why", async () => {
    await pool.revoke("c1");
    expect(await call.renew("k1", "c1")).toEqual({ kind: "lease_lost", reason: "revoked" });
    expect((await own()).lost).toBe(1);
    await redis.later(120_000);
    expect(await call.renew("k1", "c1")).toMatchObject({ kind: "lease_lost" });
  });

  test("of another credential, of nobody, after the end", async () => {
    expect(await call.renew("k1", "c2")).toEqual({ kind: "mismatch" });
    expect(await call.renew("k9", "c1")).toEqual({ kind: "not_found" });
    await ledger.reserve("alice", "plain", 1);
    expect(await call.renew("plain", "c1")).toEqual({ kind: "mismatch" });
    await call.finish("k1", "c1", 1);
    expect(await call.renew("k1", "c1")).toEqual({ kind: "closed", state: "settled", charged: 1 });
  });
});

describe("finish", () => {
  test("charges, gives the unit back, and the credential learns; once", async () => {
    const first = await call.finish("k1", "c1", 45, "upstream_error");
    expect(first).toEqual({
      kind: "finished",
      charged: 45,
      returned: [{ source: "sub_account", amount: 15 }],
      debt: 0,
      released: true,
      replayed: false,
    });
    expect(await alice()).toMatchObject({ available: 55, held: 0, spent: 45, in_flight: 0 });
    expect(await state("c1")).toMatchObject({ in_flight: 0, errors: 1 });
    expect([await members(), (await own()).released, (await tenant()).open]).toEqual([[], 1, 0]);
    expect(await lastEntry()).toMatchObject({
      kind: "settle",
      hold: "k1",
      amount: "45",
      metadata: '{"n":1}',
    });
    expect(JSON.parse((await lastEntry())?.detail ?? "")).toMatchObject({
      home: "openai:default",
      key_id: "c1",
    });
    const before = await dumpOf(redis.raw);
    expect(await call.finish("k1", "c1", 45, "upstream_error")).toEqual({ ...first, replayed: true });
    expect(await call.finish("k1", "c1", 46)).toEqual({ kind: "closed", state: "settled", charged: 45 });
    expect(await dumpOf(redis.raw)).toEqual(before);
  });

  test("void charges nothing and gives back all", async () => {
    expect(await call.finish("k1", "c1", 0, "client_error", "voided")).toMatchObject({
      charged: 0,
      released: true,
    });
    expect(await alice()).toMatchObject({ available: 100, spent: 0 });
    expect(await lastEntry()).toMatchObject({ kind: "void", amount: "0" });
  });

  test("more than was held becomes debt", async () => {
    expect(await call.finish("k1", "c1", 130)).toMatchObject({ charged: 130, debt: 30 });
  });

  test("after the lease's term: charged, and only a reclaim frees the unit", async () => {
    await redis.later(120_000);
    const late = await call.finish("k1", "c1", 5);
    expect(late).toMatchObject({ charged: 5, released: false });
    expect(await call.finish("k1", "c1", 5)).toEqual({ ...late, replayed: true });
    expect([(await state("c1")).in_flight, (await members()).length]).toEqual([1, 1]);
    await pool.reclaim();
    expect([(await state("c1")).in_flight, (await members()).length]).toEqual([0, 0]);
  });

  test("after a revocation, and after its credential is gone: charged, and nothing is freed twice", async () => {
    await pool.revoke("c1");
    expect(await call.finish("k1", "c1", 5)).toMatchObject({ charged: 5, released: false });
    expect((await own()).in_flight).toBe(0);
    await call.admit("alice", "k2", 5, ["c1"]);
    await pool.remove("c1");
    expect(await call.finish("k2", "c1", 5)).toMatchObject({ charged: 5, released: false });
  });

  test("after the sweeper: what had accrued was charged, a late finish corrects it once and frees the unit", async () => {
    await call.renew("k1", "c1", 120_000, 0, 20);
    await redis.raw.zadd(ledger.due_key, redis.now_ms + 120_000, "hold acme k1");
    await redis.later(119_000);
    await call.renew("k1", "c1", 120_000);
    await redis.later(120_000);
    expect(await ledger.expire("k1")).toMatchObject({ kind: "expired", charged: 20 });
    expect(await call.finish("k1", "c1", 33)).toMatchObject({ charged: 33, released: false });
    expect(await lastEntry()).toMatchObject({ kind: "settle", amount: "13" });
    await pool.reclaim();
  });

  test("after another end of its hold: told so, and its unit comes back, once", async () => {
    await pool.put("c1", 2);
    await call.admit("alice", "k2", 1, ["c1"]);
    await ledger.settle("k1", 5);
    expect((await state("c1")).in_flight).toBe(2);
    const closed = { kind: "closed", state: "settled", charged: 5 };
    expect(await call.finish("k1", "c1", 0, "rate_limited", "voided", 9000)).toEqual(closed);
    expect(await state("c1")).toMatchObject({ in_flight: 1, status: "rate_limited" });
    expect(await call.finish("k1", "c1", 0, "success", "voided")).toEqual(closed);
    expect([(await state("c1")).in_flight, (await members()).length]).toEqual([1, 1]);
  });

  test("of another credential or pool, of nobody", async () => {
    expect(await call.finish("k1", "c2", 1)).toEqual({ kind: "mismatch" });
    expect(await vip.finish("k1", "c1", 1)).toEqual({ kind: "mismatch" });
    expect(await call.finish("k9", "c1", 1)).toEqual({ kind: "not_found" });
    const nobody = callsOf(() => redis.store(), "globex");
    expect(await nobody.finish("k1", "c1", 1)).toEqual({ kind: "absent" });
    await ledger.reserve("alice", "one", 1);
    await ledger.settle("one", 1);
    expect(await call.finish("k1", "c1", 2 ** 53 - 1)).toEqual({ kind: "unsafe" });
  });
});

test("case A4: finish, renew, expire and undo in parallel, 50 times: one end, one unit", async () => {
  await call.undo("k1");
  for (let i = 0; i < 50; i++) {
    const id = `p${i}`;
    await call.admit("alice", id, 1, ["c1"]);
    const replies = await Promise.all([
      call.finish(id, "c1", 1),
      call.renew(id, "c1"),
      call.undo(id),
      ledger.expire(id),
      call.finish(id, "c1", 0, "cancelled", "voided"),
      ledger.settle(id, 1),
    ]);
    const ends = replies.filter(({ kind }) => ["finished", "undone", "settled"].includes(kind));
    expect(ends.length).toBe(1);
    if ((await state("c1")).in_flight > 0) await call.finish(id, "c1", 1); // a plain settle leaves it the lease
    expect((await state("c1")).in_flight).toBe(0);
    expect(await alice()).toMatchObject({ held: 0, in_flight: 0 });
  }
});
