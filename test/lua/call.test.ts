// A call's verbs: a hold without a lease, a unit that is never freed, or a double charge, if these failed.
import { beforeEach, describe, expect, test } from "vitest";
import { callsOf } from "../support/call.ts";
import { dumpOf } from "../support/lease.ts";
import { poolOf } from "../support/pool.ts";
import { useRedis } from "../support/redis.ts";
import { callKit } from "./call-kit.ts";

const redis = useRedis();
const { ledger, pool, call, vip: callsOfVip, alice, tenant, own, state } = callKit(redis);

beforeEach(async () => {
  await ledger.put();
  await ledger.putSub("alice", { max_concurrent: 3 });
  await ledger.adjust("alice", "start", "grant", 100);
  await pool.put("c1", 2);
  await pool.put("c2", 1);
});

const unit = async (id: string) => (await state(id)).in_flight;
const dump = () => dumpOf(redis.raw);
/** The whole database without the counters of refusals. */
async function bare() {
  const text = JSON.stringify(await dump());
  return text
    .replace(/("state":"1 \d+ \d+ \d+ \d+) \d+/g, "$1")
    .replace(/("@pool":"1(?: \d+){6})(?: \d+){4}/g, "$1");
}

describe("admit", () => {
  test("a hold and a lease in one record", async () => {
    const reply = await call.admit("alice", "k1", 60, ["c1", "c2"]);
    expect(reply).toEqual({
      kind: "admitted",
      amount: 60,
      funding: [{ source: "sub_account", amount: 60 }],
      sub_available: 40,
      account_available: 0,
      credential: "c1",
      fence: expect.any(Number),
      expires_at_ms: redis.now_ms + 120_000,
      expires_in_ms: 120_000,
      max_expires_at_ms: redis.now_ms + 3_600_000,
      hold_expires_at_ms: redis.now_ms + 120_000,
      secret: "print-of-c1 k1.c1",
      replayed: false,
    });
    expect(await alice()).toMatchObject({ available: 40, held: 60, in_flight: 1 });
    expect([await unit("c1"), (await own()).in_flight, (await tenant()).open]).toEqual([1, 1, 1]);
    expect(await redis.raw.pexpiretime(ledger.hold_key("k1"))).toBe(-1);
  });

  test("the same again, while both are held; with other arguments a conflict", async () => {
    const first = await call.admit("alice", "k1", 60, ["c1"]);
    const before = await dump();
    expect(await call.admit("alice", "k1", 60, ["c2"])).toEqual({ ...first, replayed: true });
    expect(await call.admit("alice", "k1", 61, ["c1"])).toEqual({ kind: "conflict" });
    expect(await dump()).toEqual(before);
  });

  test("again in another pool: where it is", async () => {
    const vip = poolOf(() => redis.store(), "openai", "vip");
    await vip.put("v1", 1);
    await call.admit("alice", "k1", 1, ["c1"]);
    const elsewhere = await callsOfVip.admit("alice", "k1", 1, ["v1"]);
    expect(elsewhere).toEqual({ kind: "elsewhere", home: "openai:default" });
  });

  test("again when its lease is over, and when it has ended", async () => {
    await call.admit("alice", "k1", 1, ["c1"], { lease_ms: 1000 });
    await redis.later(1000);
    expect(await call.admit("alice", "k1", 1, ["c1"])).toEqual({ kind: "lease_lost", reason: "expired" });
    await call.finish("k1", "c1", 1);
    expect(await call.admit("alice", "k1", 1, ["c1"])).toEqual({
      kind: "closed",
      state: "settled",
      charged: 1,
    });
  });

  const refusals: [string, () => Promise<unknown>, object, boolean?][] = [
    ["no such tenant", () => ledger.remove(), { kind: "absent" }],
    ["no such sub-account", () => ledger.removeSub("alice"), { kind: "not_found" }],
    [
      "a frozen sub-account",
      () =>
        ledger.putSub("alice", { status: "frozen" }, JSON.stringify({ status: "active", max_concurrent: 3 })),
      { kind: "frozen", what: "sub_account" },
    ],
    [
      "funds",
      () => ledger.adjust("alice", "o", "set", 9),
      { kind: "exhausted", scope: "account", requested: 10, available: 9 },
    ],
    [
      "concurrency",
      () => Promise.all(["h1", "h2", "h3"].map((id) => ledger.reserve("alice", id, 1))),
      { kind: "concurrency_limited", max_concurrent: 3 },
    ],
    [
      "capacity",
      () => pool.mark("c1", "disabled"),
      { kind: "no_capacity", due_in_ms: 0, reasons: { disabled: 1 }, seq: 3 },
    ],
    [
      "both: funds are said",
      async () => {
        await pool.mark("c1", "disabled");
        return ledger.adjust("alice", "o", "zero", 0);
      },
      { kind: "exhausted", scope: "account", requested: 10, available: 0 },
    ],
  ];
  test.each(refusals)("refused for %s: nothing is held and no unit is taken", async (_, arrange, refusal) => {
    await arrange();
    const before = await bare();
    expect(await call.admit("alice", "k1", 10, ["c1"])).toEqual(refusal);
    expect(await bare()).toBe(before);
  });

  test("an open breaker before funds, and no pool", async () => {
    await ledger.adjust("alice", "o", "zero", 0);
    await redis.raw.hset(pool.pool_key, "@breaker", `1 5 ${redis.now_ms + 5000} 0 0 1`);
    expect(await call.admit("alice", "k1", 10, ["c1"])).toEqual({ kind: "breaker_open", due_in_ms: 5000 });
    const nowhere = callsOf(() => redis.store(), "acme", "openai", "nobody");
    expect(await nowhere.admit("alice", "k1", 10, ["c1"])).toEqual({ kind: "no_pool" });
  });

  test("a token opens its own sub-account and no other", async () => {
    await ledger.addToken("alice", "tok_1", "hash");
    await ledger.putSub("bob");
    const kinds = [
      (await call.admit("alice", "k1", 1, ["c1"], { token: "hash" })).kind,
      (await call.admit("bob", "k2", 0, ["c1"], { token: "hash" })).kind,
      (await call.admit("alice", "k3", 1, ["c1"], { token: "other" })).kind,
    ];
    expect(kinds).toEqual(["admitted", "unauthenticated", "unauthenticated"]);
  });

  test("expired leases give way, and 64 at once say that there may be more", async () => {
    await pool.put("a3", 100); // before c2 among those that end at the same time
    for (let i = 0; i < 65; i++) await pool.allocate(`l${i}`, ["a3"], 1);
    await call.admit("alice", "k0", 1, ["c2"], { lease_ms: 1 });
    await redis.later(10);
    expect(await call.admit("alice", "k1", 1, ["c2"])).toEqual({ kind: "reclaim_due" });
    expect(await call.admit("alice", "k1", 1, ["c2"])).toMatchObject({ kind: "admitted", credential: "c2" });
  });
});
