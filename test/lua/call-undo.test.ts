// An admission that is taken back: a hold or a unit that stays, or an id that cannot be tried again, if these failed.
import { beforeEach, describe, expect, test } from "vitest";
import { callsOf } from "../support/call.ts";
import { useRedis } from "../support/redis.ts";
import { callKit } from "./call-kit.ts";

const redis = useRedis();
const { ledger, pool, call, vip, alice, tenant, own, state, members } = callKit(redis);

beforeEach(async () => {
  await ledger.put();
  await ledger.putSub("alice");
  await ledger.adjust("alice", "start", "grant", 100);
  await pool.put("c1", 1);
  expect((await call.admit("alice", "k1", 60, ["c1"], { metadata: '{"n":1}' })).kind).toBe("admitted");
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

test("what comes back and pays a debt changes an amount: it is an entry, and the books are right", async () => {
  await ledger.reserve("alice", "h1", 40);
  await ledger.settle("h1", 55);
  expect(await alice()).toMatchObject({ available: 0, debt: 15 });
  const entries = await redis.raw.xlen(ledger.journal_key);
  expect(await call.undo("k1")).toEqual({ kind: "undone", released: true });
  expect(await alice()).toMatchObject({ available: 45, debt: 0 });
  expect(await redis.raw.xlen(ledger.journal_key)).toBe(entries + 1);
});
