// What a call does not get although a credential is free: units kept from other pools' calls, and tokens that are over.
import { describe, expect, test } from "vitest";
import { leaseKit } from "../support/lease.ts";
import { KEEP_MS, poolOf } from "../support/pool.ts";
import { keys, useRedis } from "../support/redis.ts";
import { settingsOf } from "./health-kit.ts";

const redis = useRedis();
const { state, own, dump, granted } = leaseKit(redis);
const lender = (reserved_capacity: number) =>
  poolOf(() => redis.store(), "openai", "default", settingsOf({ reserved_capacity }));

describe("reserved_capacity", () => {
  const pool = lender(2);
  const borrow = (id: string, candidates: string[], lease_ms = 60_000) =>
    pool.allocate(id, candidates, lease_ms, "args", { borrowed: true });
  const lend = (id: string, candidates: string[], lease_ms = 60_000) =>
    granted(id, candidates, lease_ms, pool);

  test("borrowers are refused at what is reserved, the pool's own calls are not", async () => {
    await pool.put("c1", 3);
    await pool.put("c2", 2);
    for (const id of ["b1", "b2", "b3"]) expect((await borrow(id, ["c1", "c2"])).kind).toBe("granted");
    expect(await borrow("b4", ["c1", "c2"])).toEqual({
      kind: "no_capacity",
      due_in_ms: 60_000,
      reasons: { reserved: 2 },
      seq: 2,
    });
    expect(await own()).toMatchObject({ in_flight: 3, reserved: 1, refused: 0 });
    for (const id of ["o1", "o2"]) await lend(id, ["c1", "c2"]);
    expect(await pool.allocate("o3", ["c1", "c2"])).toMatchObject({ reasons: { full: 2 } });
    expect(await own()).toMatchObject({ in_flight: 5, reserved: 1, refused: 1 });
  });

  test("a refusal changes only its counter, and a borrowed lease is found again all the same", async () => {
    await pool.put("c1", 3);
    const first = await borrow("b1", ["c1"]);
    const before = { ...(await dump()), [pool.pool_key]: "" };
    expect((await borrow("b2", ["c1"])).kind).toBe("no_capacity");
    expect({ ...(await dump()), [pool.pool_key]: "" }).toEqual(before);
    expect(await borrow("b1", ["c1"])).toEqual({ ...first, replayed: true });
  });

  test("what the pool's own calls carry counts, what comes back is lent again", async () => {
    await pool.put("c1", 3);
    await lend("o1", ["c1"]);
    expect((await borrow("b1", ["c1"])).kind).toBe("no_capacity");
    await pool.release("o1", "c1");
    expect((await borrow("b1", ["c1"])).kind).toBe("granted");
  });

  test("units of expired leases are taken back before a borrower is refused, wherever the free one stands", async () => {
    await pool.put("c1", 2);
    await pool.put("c2", 1);
    await lend("o1", ["c1"], 1_000);
    await redis.later(1_000);
    expect(await borrow("b1", ["nobody", "gone", "never", "ghost", "c2"])).toMatchObject({
      kind: "granted",
      credential: "c2",
    });
    expect(await own()).toMatchObject({ in_flight: 1, reclaimed: 1, reserved: 0 });
  });

  test("behind the first four, why is told of the credential as it is", async () => {
    await pool.put("c1", 3);
    await pool.put("c2", 1, { status: "disabled" });
    await lend("o1", ["c1"], 1_000);
    await lend("o2", ["c1"], 1_000);
    await redis.later(1_000);
    const candidates = ["nobody", "gone", "never", "ghost", "c2"];
    expect(await borrow("b1", candidates)).toMatchObject({
      kind: "no_capacity",
      reasons: { removed: 4, disabled: 1 },
    });
  });

  test("20 borrowers at once get what is not reserved, and no more", async () => {
    await pool.put("c1", 6);
    await pool.put("c2", 4);
    const replies = await Promise.all(Array.from({ length: 20 }, (_, i) => borrow(`b${i}`, ["c1", "c2"])));
    expect(replies.filter(({ kind }) => kind === "granted")).toHaveLength(8);
    expect(await own()).toMatchObject({ in_flight: 8, reserved: 12 });
  });

  test.each([
    [0, 3],
    [1, 2],
    [2, 1],
    [3, 0],
    [4, 0],
  ])("%d reserved of 3: a borrower gets %d", async (reserved, lent) => {
    const one = lender(reserved);
    await one.put("c1", 3);
    const replies: string[] = [];
    for (let i = 0; i < 4; i++)
      replies.push((await one.allocate(`b${i}`, ["c1"], 60_000, "args", { borrowed: true })).kind);
    expect(replies.filter((kind) => kind === "granted")).toHaveLength(lent);
    expect((await state("c1")).in_flight).toBe(lent);
  });
});

describe("a token that ends", () => {
  const pool = lender(0);
  const ask = (id: string, candidates: string[], ends: Record<string, number>, lease_ms = 60_000) =>
    pool.allocate(id, candidates, lease_ms, "args", { ends });

  test.each([-1, 0, 1])("at %d ms from now", async (in_ms) => {
    await pool.put("c1", 1);
    const reply = await ask("l1", ["c1"], { c1: redis.now_ms + in_ms });
    if (in_ms > 0) expect(reply).toMatchObject({ kind: "granted", expires_in_ms: in_ms });
    else expect(reply).toEqual({ kind: "no_capacity", due_in_ms: 0, reasons: { token_expired: 1 }, seq: 1 });
    expect((await state("c1")).in_flight).toBe(in_ms > 0 ? 1 : 0);
  });

  test("neither a lease nor its renewals outlive it; nor does its record, but by what is always kept", async () => {
    await pool.put("c1", 1);
    const end_ms = redis.now_ms + 5_000;
    const first = await ask("l1", ["c1"], { c1: end_ms }, 2_000);
    expect(first).toMatchObject({ expires_in_ms: 2_000, max_expires_at_ms: end_ms });
    expect(Number(await redis.raw.pexpiretime(keys.lease("l1")))).toBe(end_ms + KEEP_MS);
    await redis.later(1_000);
    const renewed = {
      kind: "renewed",
      expires_at_ms: end_ms,
      expires_in_ms: 4_000,
      max_expires_at_ms: end_ms,
    };
    expect(await pool.renew("l1", "c1", 60_000)).toEqual(renewed);
    expect(await ask("l1", ["c1"], {})).toMatchObject({ replayed: true, expires_at_ms: end_ms });
    await redis.at(end_ms - 1);
    expect(await pool.renew("l1", "c1", 60_000)).toMatchObject({ expires_in_ms: 1 });
    await redis.at(end_ms);
    expect(await pool.renew("l1", "c1", 60_000)).toEqual({ kind: "lease_lost", reason: "expired" });
    await redis.later(1);
    expect(await ask("l2", ["c1"], { c1: end_ms })).toMatchObject({ reasons: { token_expired: 1 } });
  });

  test("an end beyond the longest lifetime shortens nothing, and another's end is not this one's", async () => {
    for (const id of ["c1", "c2", "c3"]) await pool.put(id, 1);
    const ends = { c1: redis.now_ms - 1, c2: redis.now_ms + 10 ** 12, gone: 0 };
    const longest = { max_expires_at_ms: redis.now_ms + 3_600_000, expires_in_ms: 60_000 };
    expect(await ask("l1", ["c1", "gone", "c2"], ends)).toMatchObject({ credential: "c2", ...longest });
    expect(await ask("l2", ["c1", "c2", "c3"], ends)).toMatchObject({ credential: "c3", ...longest });
    expect(await ask("l3", ["c1", "c2", "c3"], ends)).toMatchObject({
      kind: "no_capacity",
      due_in_ms: 60_000,
      reasons: { token_expired: 1, full: 2 },
    });
  });
});
