// Who may not reserve, on a real Redis: each refusal, which of several comes first, and what a repeated call is told instead.
import { describe, expect, test } from "vitest";
import { defaultsOf } from "../../src/pools/settings.ts";
import { poolOf } from "../support/pool.ts";
import { useRedis } from "../support/redis.ts";
import { healthKit, settingsOf } from "./health-kit.ts";
import { checkAfterEach, from, ledgerKit } from "./ledger-kit.ts";

const redis = useRedis();
const { ledger, open, refuses, changesNothing, purse, state, grant } = ledgerKit(redis);
const health = healthKit(redis, settingsOf({ breaker: { failures: 1, open_ms: 5_000 } }));
const { pool } = health;
const named = { home: pool.home, pool_key: pool.pool_key };
const ACTIVE = '{"status":"active"}';
const freezeTenant = () => ledger.put({ status: "frozen" }, ACTIVE, "status");
const freezeSub = () => ledger.putSub("alice", { status: "frozen" }, ACTIVE, "status");
const exhausted = (scope: "debt" | "account", requested: number, available: number) =>
  ({ kind: "exhausted", scope, requested, available }) as const;

/** One failure opens it for 5 s. */
async function openBreaker() {
  await pool.put("c1", 5);
  await health.call("c1", "upstream_error");
}

describe("frozen, until it is active again, and nobody else with it", () => {
  test("the tenant: none of its sub-accounts; its open holds end as always", async () => {
    await open(1000, { alice: {}, bob: {} });
    await ledger.reserve("alice", "h1", 100);
    await freezeTenant();
    for (const sub of ["alice", "bob"]) {
      await refuses(() => ledger.reserve(sub, "h2", 1), { kind: "frozen", what: "tenant" });
    }
    expect(await ledger.settle("h1", 60)).toMatchObject({ kind: "settled", charged: 60 });
    await ledger.put({ status: "active" }, '{"status":"frozen"}', "status");
    expect(await ledger.reserve("alice", "h2", 1)).toMatchObject({ kind: "reserved" });
  });

  test("a sub-account: the others go on", async () => {
    await open(1000, { alice: {}, bob: {} });
    await freezeSub();
    await refuses(() => ledger.reserve("alice", "h1", 1), { kind: "frozen", what: "sub_account" });
    expect(await ledger.reserve("bob", "h1", 1)).toMatchObject({ kind: "reserved" });
  });
});

describe("a token", () => {
  test("opens its own sub-account only: with another, an unknown or a revoked one nothing is held", async () => {
    await open(1000, { alice: {}, bob: {} });
    await ledger.addToken("alice", "tok_a", "sha-a");
    await ledger.addToken("bob", "tok_b", "sha-b");
    expect(await ledger.reserve("alice", "h1", 1, { token: "sha-a" })).toMatchObject({ kind: "reserved" });
    for (const token of ["sha-b", "unknown", "alice"]) {
      await refuses(() => ledger.reserve("alice", "h2", 1, { token }), { kind: "unauthenticated" });
    }
    await ledger.revokeToken("alice", "tok_a");
    await refuses(() => ledger.reserve("alice", "h2", 1, { token: "sha-a" }), { kind: "unauthenticated" });
    expect(await ledger.reserve("bob", "h2", 1, { token: "sha-b" })).toMatchObject({ kind: "reserved" });
  });

  test("does not tell whether a sub-account is there", async () => {
    await open(1000);
    await refuses(() => ledger.reserve("ghost", "h1", 1, { token: "sha" }), { kind: "unauthenticated" });
    await refuses(() => ledger.reserve("ghost", "h1", 1), { kind: "not_found" });
  });
});

describe("a pool that is named", () => {
  test("breaker_open: nothing is held while upstream is ill, and it says when to ask again", async () => {
    await open(1000);
    await openBreaker();
    await redis.later(2_000);
    await refuses(() => ledger.reserve("alice", "h1", 1, named), { kind: "breaker_open", due_in_ms: 3_000 });
    expect(await ledger.reserve("alice", "h1", 1)).toMatchObject({ kind: "reserved" }); // names none
    await redis.later(3_000);
    expect(await ledger.reserve("alice", "h2", 1, named)).toMatchObject({ kind: "reserved" });
    await health.hold("c1"); // the one probe that may be out
    await refuses(() => ledger.reserve("alice", "h3", 1, named), { kind: "breaker_open", due_in_ms: 0 });
  });

  test.each([
    ["open: the operator's word holds without a failure", "open", "breaker_open"],
    ["closed: the operator's word holds against failures", "closed", "reserved"],
  ] as const)("its breaker held %s", async (_, mode, kind) => {
    await open(1000);
    await openBreaker();
    if (mode === "open") await redis.later(60_000);
    await pool.configure({ ...defaultsOf("default"), breaker: { ...defaultsOf("default").breaker, mode } });
    const reply = await ledger.reserve("alice", "h1", 1, named);
    expect(reply).toMatchObject(kind === "reserved" ? { kind } : { kind, due_in_ms: 0 });
    expect(await state()).toMatchObject({ open: kind === "reserved" ? 1 : 0 });
  });

  test("a healthy one is remembered in the hold; one that is not there is said, not guessed", async () => {
    await open(1000);
    const ghost = poolOf(() => redis.store(), "openai", "ghost");
    await refuses(() => ledger.reserve("alice", "h1", 1, { home: ghost.home, pool_key: ghost.pool_key }), {
      kind: "no_pool",
    });
    await pool.put("c1", 5);
    expect(await ledger.reserve("alice", "h1", 1, named)).toMatchObject({ kind: "reserved" });
    const text = await redis.raw.get(ledger.hold_key("h1"));
    expect(text?.split("\n")[0]?.split(" ").at(-1)).toBe("openai:default");
  });
});

test("of several refusals the first in the design's order is told, so that what is cured first is what is wrong", async () => {
  await changesNothing(() => ledger.reserve("alice", "h1", 1), { kind: "absent" });
  await open(60, { alice: { max_concurrent: 1 } });
  await ledger.reserve("alice", "h0", 60);
  await ledger.settle("h0", 160); // a debt of 100
  const limited = JSON.stringify({ status: "active", max_concurrent: 1 });
  await openBreaker();
  await freezeTenant();
  await ledger.putSub("alice", { status: "frozen", max_concurrent: 0 }, limited, "status");
  const ask = (token = "") => ledger.reserve("alice", "h1", 7, { ...named, token });
  await refuses(() => ask("wrong"), { kind: "unauthenticated" });
  await refuses(() => ledger.reserve("ghost", "h1", 7, named), { kind: "not_found" });
  await refuses(ask, { kind: "frozen", what: "tenant" });
  await ledger.put({ status: "active" }, '{"status":"frozen"}', "status");
  await refuses(ask, { kind: "frozen", what: "sub_account" });
  const thawed = { status: "active", max_concurrent: 0 } as const;
  await ledger.putSub("alice", thawed, JSON.stringify({ status: "frozen", max_concurrent: 0 }), "status");
  await refuses(ask, exhausted("debt", 7, 0));
  await grant("alice", 100);
  await refuses(ask, { kind: "concurrency_limited", max_concurrent: 0 });
  await ledger.putSub("alice", {}, JSON.stringify(thawed));
  await refuses(ask, { kind: "breaker_open", due_in_ms: 5_000 });
  await redis.later(5_000);
  await refuses(ask, exhausted("account", 7, 0));
  await grant("", 7);
  expect(await ask()).toMatchObject({ kind: "reserved", amount: 7 });
});

describe("the same hold again", () => {
  test("before any refusal: a call that was let in once is let in when it comes again, whatever happened since", async () => {
    await open(100, { alice: { funds: 50 } });
    await ledger.addToken("alice", "tok_a", "sha-a");
    await pool.put("c1", 5);
    const ask = () => ledger.reserve("alice", "h1", 120, { ...named, token: "sha-a" });
    const first = await ask();
    expect(first).toMatchObject({ kind: "reserved", funding: from(50, 70), account_available: 30 });
    await ledger.reserve("alice", "h2", 30);
    const replayed = { ...first, account_available: 0, replayed: true };
    await openBreaker();
    await changesNothing(ask, replayed);
    await freezeTenant();
    await freezeSub();
    await changesNothing(ask, replayed);
    await ledger.settle("h2", 900); // broke, and in debt
    await changesNothing(ask, replayed);
    await ledger.revokeToken("alice", "tok_a");
    await changesNothing(ask, replayed);
    await redis.later(1_000_000); // overdue, and not swept yet
    await changesNothing(ask, replayed);
    expect(await purse("alice")).toMatchObject({ held: 50, in_flight: 1 });
  });

  test.each([
    ["settled", () => ledger.settle("h1", 30), 30],
    ["voided", () => ledger.void("h1"), 0],
    ["expired", () => redis.later(120_000).then(() => ledger.expire("h1")), 0],
  ] as const)(
    "after its end (%s): the end, and nothing reopens; also when the tenant is gone",
    async (kind, end, charged) => {
      await open(1000);
      const ask = () => ledger.reserve("alice", "h1", 100);
      await ask();
      await end();
      const closed = { kind: "closed", state: kind, charged } as const;
      await changesNothing(ask, closed);
      await freezeTenant();
      await changesNothing(ask, closed);
      expect(await ledger.removeSub("alice")).toMatchObject({ kind: "removed" });
      await changesNothing(ask, closed);
      expect(await ledger.remove()).toMatchObject({ kind: "removed" });
      await changesNothing(ask, closed);
    },
  );

  test("conflict: another amount, model or sub-account is not that call, open or ended", async () => {
    await open(1000, { alice: {}, bob: {} });
    await ledger.reserve("alice", "h1", 100);
    const others = [
      () => ledger.reserve("alice", "h1", 101),
      () => ledger.reserve("alice", "h1", 0, { items: [{ model: "other", amount: 100 }] }),
      () => ledger.reserve("bob", "h1", 100),
    ];
    for (const ask of others) await changesNothing(ask, { kind: "conflict" });
    await ledger.settle("h1", 100);
    for (const ask of others) await changesNothing(ask, { kind: "conflict" });
  });
});

checkAfterEach(redis);
