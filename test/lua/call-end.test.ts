// How a call goes on and ends: a stream cut off, a unit that is lost, or money charged twice, if these failed.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { check } from "../checker/check.ts";
import { callsOf } from "../support/call.ts";
import { dumpOf } from "../support/lease.ts";
import { entriesOf, ledgerOf, purseOf, tenantStateOf } from "../support/ledger.ts";
import { poolOf, poolStateOf, stateOf } from "../support/pool.ts";
import { useRedis } from "../support/redis.ts";

const redis = useRedis();
const ledger = ledgerOf(() => redis.store());
const pool = poolOf(() => redis.store());
const call = callsOf(() => redis.store());

beforeEach(async () => {
  await ledger.put();
  await ledger.putSub("alice");
  await ledger.adjust("alice", "start", "grant", 100);
  await pool.put("c1", 1);
  expect((await call.admit("alice", "k1", 60, ["c1"], { metadata: '{"n":1}' })).kind).toBe("admitted");
});
afterEach(async () => expect(await check(redis.raw, "test", { now_ms: redis.now_ms })).toEqual([]));

const alice = async () => purseOf(await redis.raw.hget(ledger.tenant_key, "purse:alice"));
const tenant = async () => tenantStateOf(await redis.raw.hget(ledger.tenant_key, "state"));
const own = async () => poolStateOf(await redis.raw.hget(pool.pool_key, "@pool"));
const state = async (id: string) => stateOf(await redis.raw.hget(pool.pool_key, id));
const members = () => redis.raw.zrange(pool.leases_key, "0", "-1");
const lastEntry = async () => entriesOf(await redis.raw.xrange(ledger.journal_key, "-", "+")).at(-1);

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
    expect(await call.finish("k1", "c1", 5)).toMatchObject({ charged: 5, released: false });
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

  test("of another credential or pool, of nobody", async () => {
    expect(await call.finish("k1", "c2", 1)).toEqual({ kind: "mismatch" });
    const vip = callsOf(() => redis.store(), "acme", "openai", "vip");
    expect(await vip.finish("k1", "c1", 1)).toEqual({ kind: "mismatch" });
    expect(await call.finish("k9", "c1", 1)).toEqual({ kind: "not_found" });
    const nobody = callsOf(() => redis.store(), "globex");
    expect(await nobody.finish("k1", "c1", 1)).toEqual({ kind: "absent" });
    await ledger.reserve("alice", "one", 1);
    await ledger.settle("one", 1);
    expect(await call.finish("k1", "c1", 2 ** 53 - 1)).toEqual({ kind: "unsafe" });
  });
});

describe("undo", () => {
  test("as if it had not been, but for what the credential learns; the id is free again", async () => {
    const entries = await redis.raw.xlen(ledger.journal_key);
    expect(await call.undo("k1", "rate_limited", 5000)).toEqual({ kind: "undone", released: true });
    expect(await alice()).toMatchObject({ available: 100, held: 0, spent: 0, in_flight: 0 });
    expect(await state("c1")).toMatchObject({ in_flight: 0, status: "rate_limited" });
    expect([await members(), await redis.raw.exists(ledger.hold_key("k1")), await tenant()]).toEqual([
      [],
      0,
      { seq: 3, subs: 1, open: 0, reserved: 0, refused: 0 },
    ]);
    expect(await redis.raw.xlen(ledger.journal_key)).toBe(entries);
    await pool.put("c2", 1);
    expect(await call.admit("alice", "k1", 60, ["c1", "c2"])).toMatchObject({
      kind: "admitted",
      credential: "c2",
    });
  });

  test("not of one that has ended, nor of another pool's, nor of a plain hold", async () => {
    const vip = callsOf(() => redis.store(), "acme", "openai", "vip");
    expect(await vip.undo("k1")).toEqual({ kind: "mismatch" });
    await ledger.reserve("alice", "plain", 1);
    expect(await call.undo("plain")).toEqual({ kind: "mismatch" });
    await call.finish("k1", "c1", 1);
    expect(await call.undo("k1")).toEqual({ kind: "closed", state: "settled", charged: 1 });
    expect(await call.undo("k9")).toEqual({ kind: "not_found" });
    expect(await callsOf(() => redis.store(), "globex").undo("k1")).toEqual({ kind: "absent" });
  });

  test("when its lease is over the hold comes back, and only a reclaim frees the unit", async () => {
    await redis.later(120_000);
    expect(await call.undo("k1")).toEqual({ kind: "undone", released: false });
    expect(await alice()).toMatchObject({ available: 100, in_flight: 0 });
    await pool.reclaim();
    expect((await own()).in_flight).toBe(0);
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
    if ((await state("c1")).in_flight > 0) await pool.revoke("c1"); // a plain settle leaves the lease to its term
    expect(await alice()).toMatchObject({ held: 0, in_flight: 0 });
  }
});
