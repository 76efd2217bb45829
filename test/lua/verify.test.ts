// pool/verify on a real Redis: a row per reply, and the raw state that it leaves. If it failed, a probe would undo what an operator
// or a newer secret says, or a dead credential would be leased.
import { describe, expect, test } from "vitest";
import { readState } from "../../src/pools/state.ts";
import { useBooks } from "../support/books.ts";
import { leaseKit } from "../support/lease.ts";
import { useRedis } from "../support/redis.ts";
import { entriesIn, entryLike } from "./ledger-kit.ts";

const redis = useRedis();
useBooks(redis);
const { pool, own, dump, granted } = leaseKit(redis);
const aggregate = `pool:${pool.home}`;
const state = async (id = "c1") => readState((await redis.raw.hget(pool.pool_key, id)) ?? "");
const last = async () => (await entriesIn(redis, pool.journal_key, aggregate)).at(-1);

/** A credential that a call has put into this status. */
async function benched(outcome: "rate_limited" | "exhausted" | "auth_failed") {
  await pool.put("c1", 1);
  await granted("l1", ["c1"]);
  await pool.release("l1", "c1", outcome);
}
const entry = async (change: string, was: string, actor: string) =>
  entryLike({
    kind: "status",
    ...{ aggregate, seq: String((await own()).seq), at: String(redis.now_ms), actor },
    detail: { change, was, key_id: "c1", note: {} },
  });

async function changesNothing<T>(verb: () => Promise<T>): Promise<T> {
  const before = await dump();
  const reply = await verb();
  expect(await dump()).toEqual(before);
  return reply;
}

describe("verified", () => {
  test("available already: only when it was seen to work, without an entry; the pool has not changed", async () => {
    await pool.put("c1", 2);
    await granted("l1", ["c1"]);
    await pool.release("l1", "c1", "upstream_error");
    const before = await state();
    const { seq } = await own();
    await redis.later(5);
    expect(await pool.verify("c1", "available", true)).toEqual({ kind: "verified", changed: false });
    expect(await state()).toEqual({ ...before, verified_at_ms: redis.now_ms });
    expect(before).toMatchObject({ errors: 1, verified_at_ms: 0 });
    expect((await own()).seq).toBe(seq);
  });

  test("pending: it serves from now on, and snapshots know", async () => {
    await pool.put("c1", 1, { status: "pending" });
    expect((await pool.allocate("l1", ["c1"])).kind).toBe("no_capacity");
    expect(await pool.verify("c1", "pending", true)).toEqual({ kind: "verified", changed: true });
    expect(await state()).toMatchObject({ status: "available", until_ms: 0, verified_at_ms: redis.now_ms });
    expect((await own()).seq).toBe(2);
    expect(await last()).toEqual(await entry("available", "pending", "probe"));
    await granted("l1", ["c1"]);
  });

  test("auth_failed: restored, and an older call's word against it is old news", async () => {
    await pool.put("c1", 2);
    await granted("l1", ["c1"]);
    await granted("l2", ["c1"]);
    await pool.release("l1", "c1", "auth_failed");
    expect(await pool.verify("c1", "auth_failed", true)).toEqual({ kind: "verified", changed: true });
    await pool.release("l2", "c1", "auth_failed");
    expect(await state()).toMatchObject({ status: "available", errors: 0, in_flight: 0 });
  });

  test("a bench whose deadline has passed, with its streak", async () => {
    await benched("rate_limited");
    const { until_ms } = await state();
    await redis.at(until_ms);
    expect(await pool.verify("c1", "rate_limited", true)).toEqual({ kind: "verified", changed: true });
    expect(await state()).toMatchObject({ status: "available", until_ms: 0, errors: 0 });
    expect(await last()).toEqual(await entry("available", "rate_limited", "probe"));
  });
});

describe("refused", () => {
  test.each(["available", "pending"] as const)("%s: out of service, its leases go on", async (status) => {
    await pool.put("c1", 2);
    await granted("l1", ["c1"], 60_000);
    if (status === "pending") await pool.put("c2", 1, { status });
    const id = status === "pending" ? "c2" : "c1";
    const { verified_at_ms } = await state(id);
    const { seq = 0 } = await own();
    expect(await pool.verify(id, status, false)).toEqual({ kind: "refused", changed: true });
    expect(await state(id)).toMatchObject({ status: "auth_failed", until_ms: 0, verified_at_ms });
    expect((await own()).seq).toBe(seq + 1);
    expect(await pool.renew("l1", "c1", 60_000)).toMatchObject({ kind: "renewed" });
    expect(await pool.allocate("l2", [id])).toMatchObject({
      kind: "no_capacity",
      reasons: { auth_failed: 1 },
    });
  });

  test("a running bench too: who says so is in the entry", async () => {
    await benched("exhausted");
    expect(await pool.verify("c1", "exhausted", false, { actor: "refresh" })).toEqual({
      kind: "refused",
      changed: true,
    });
    expect(await state()).toMatchObject({ status: "auth_failed", until_ms: 0 });
    expect(await last()).toEqual(await entry("auth_failed", "exhausted", "refresh"));
  });

  test("auth_failed already: nothing is written", async () => {
    await benched("auth_failed");
    expect(await changesNothing(() => pool.verify("c1", "auth_failed", false))).toEqual({
      kind: "refused",
      changed: false,
    });
  });
});

describe("moved: nothing is written", () => {
  const nothing = (status: string, works: boolean, fingerprint?: string) =>
    changesNothing(() => pool.verify("c1", status, works, fingerprint ? { fingerprint } : {}));

  test("another secret than the one that was probed", async () => {
    await pool.put("c1", 1, { status: "pending" });
    await pool.patch("c1", "{}", { fingerprint: "new", sealed: "k1.new" });
    expect(await nothing("pending", true)).toEqual({ kind: "moved" });
    expect(await nothing("pending", false)).toEqual({ kind: "moved" });
    expect(await pool.verify("c1", "pending", true, { fingerprint: "new" })).toMatchObject({
      kind: "verified",
    });
  });

  test("an operator's disabled, before or after the probe began", async () => {
    await pool.put("c1", 1);
    await pool.mark("c1", "disabled");
    for (const status of ["available", "disabled"])
      for (const works of [true, false])
        expect(await nothing(status, works), status).toEqual({ kind: "moved" });
  });

  test("a bench whose deadline is still to come", async () => {
    await benched("rate_limited");
    await redis.at((await state()).until_ms - 1);
    expect(await nothing("rate_limited", true)).toEqual({ kind: "moved" });
    await redis.later(1);
    expect((await pool.verify("c1", "rate_limited", true)).kind).toBe("verified");
  });
});

test("not_found and absent change nothing", async () => {
  expect(await changesNothing(() => pool.verify("c1", "available", true))).toEqual({ kind: "absent" });
  await pool.put("c1", 1);
  expect(await changesNothing(() => pool.verify("c2", "available", true))).toEqual({ kind: "not_found" });
});

describe("a refreshed token is of the same account", () => {
  const secret = { fingerprint: "new", sealed: "k1.new", actor: "refresh" as const };

  test.each([
    ["auth_failed", "available"],
    ["exhausted", "exhausted"],
    ["rate_limited", "rate_limited"],
  ] as const)("patch by a refresh: %s becomes %s", async (outcome, after) => {
    await benched(outcome);
    const patched = await pool.patch("c1", "{}", { ...secret, fingerprint_before: "print-of-c1" });
    expect(patched).toEqual({ kind: "patched" });
    expect((await state()).status).toBe(after);
    expect(await last()).toMatchObject({ kind: "config", actor: "refresh" });
  });

  test("stale: the secret is another by now, with the same configuration", async () => {
    await pool.put("c1", 1, { fingerprint: "an-operators" });
    expect(
      await changesNothing(() => pool.patch("c1", "{}", { ...secret, fingerprint_before: "print-of-c1" })),
    ).toEqual({ kind: "stale" });
  });
});
