// quota/reserve on a real Redis: where a hold's amount comes from, and what it leaves behind.
import { describe, expect, test } from "vitest";
import { useRedis } from "../support/redis.ts";
import { checkAfterEach, from, ledgerKit } from "./ledger-kit.ts";

const redis = useRedis();
const { ledger, open, purse, state, entries, record, due, endsIn, made, refuses } = ledgerKit(redis);

describe("reserved", () => {
  test("the sub-account's own first, then the account: every digit of the hold is where it must be", async () => {
    await open(1000, { alice: { funds: 500 } });
    const expires_at_ms = redis.now_ms + 60_000;
    const more = { fingerprint: "args", ttl_ms: 60_000, metadata: "note" };
    const before = (await entries()).length;
    expect(await ledger.reserve("alice", "h1", 600, more)).toEqual({
      ...{ kind: "reserved", amount: 600, funding: from(500, 100) },
      ...{ sub_available: 0, account_available: 900, expires_at_ms, replayed: false },
    });
    expect(await purse("alice")).toEqual({ held: 500, funded: 500, borrowed: 100, in_flight: 1 });
    expect(await purse()).toEqual({ available: 900, held: 100, funded: 1000 });
    expect(await state()).toEqual({ seq: 4, subs: 1, open: 1, reserved: 1, refused: 0 });
    expect(await record("h1")).toBe(
      `1 open alice ${await made("alice")} args ${redis.now_ms} ${expires_at_ms} 600 0 500 100 0 0 0 0 - 0 0 -\n` +
        '[["m",600,0,1]]\n[]\nnote',
    );
    expect(await endsIn(ledger.hold_key("h1"))).toBeNull(); // it would stay held for ever
    expect(await due("h1")).toBe(expires_at_ms);
    expect(await entries()).toHaveLength(before); // nothing has left a purse yet
  });

  test.each([
    ["all from the sub-account, the account untouched", 500, 1000, 400, from(400, 0)],
    ["all of both, to the last micro", 500, 1000, 1500, from(500, 1000)],
    ["all from the account when the sub-account has nothing", 0, 1000, 1000, from(0, 1000)],
    ["nothing at all, and it is still a hold", 0, 0, 0, []],
  ])("%s", async (_, funds, account, amount, funding) => {
    await open(account, { alice: { funds } });
    expect(await ledger.reserve("alice", "h1", amount)).toMatchObject({ kind: "reserved", amount, funding });
    expect(await purse("alice")).toMatchObject({ in_flight: 1 });
    expect(await due("h1")).toBe(redis.now_ms + 120_000);
  });

  test("several models in one call are one hold of their sum, or none: no part of a refused call stays held", async () => {
    await open(1000);
    const items = [
      { model: "big", amount: 700, tokens: 70, requests: 2 },
      { model: "small", amount: 300 },
    ];
    const [first] = items;
    await refuses(
      () => ledger.reserve("alice", "h1", 0, { items: [...items, { model: "one", amount: 1 }] }),
      {
        ...{ kind: "exhausted", scope: "account", requested: 1001, available: 1000 },
      },
    );
    expect(await ledger.reserve("alice", "h1", 0, { items })).toMatchObject({
      kind: "reserved",
      amount: 1000,
    });
    expect((await record("h1"))?.split("\n")[1]).toBe('[["big",700,70,2],["small",300,0,1]]');
    expect(await purse()).toEqual({ held: 1000, funded: 1000 });
    await refuses(() => ledger.reserve("alice", "h2", 0, { items: first ? [first] : [] }), {
      ...{ kind: "exhausted", scope: "account", requested: 700, available: 0 },
    });
  });
});

describe("exhausted", () => {
  test("says how much there was, of the account when that is empty", async () => {
    await open(100, { alice: { funds: 50 } });
    await refuses(() => ledger.reserve("alice", "h1", 151), {
      ...{ kind: "exhausted", scope: "account", requested: 151, available: 150 },
    });
  });

  test.each([
    ["absent: the account to its end", {}, "account", 1000],
    ["0: nothing of the account", { borrow_cap: 0 }, "sub_account", 50],
    ["less than the account: no more than it", { borrow_cap: 300 }, "sub_account", 350],
    ["more than the account: to its end", { borrow_cap: 5000 }, "account", 1000],
  ] as const)("a borrow cap that is %s", async (_, terms, scope, most) => {
    await open(950, { alice: { funds: 50, ...terms } });
    const requested = most + 1;
    await refuses(() => ledger.reserve("alice", "h1", requested), {
      ...{ kind: "exhausted", scope, requested, available: most },
    });
    expect(await ledger.reserve("alice", "h1", most)).toMatchObject({ funding: from(50, most - 50) });
  });

  test("of a cap, what came back may be drawn again, and what was charged may not", async () => {
    await open(1000, { alice: { borrow_cap: 300 }, bob: { borrow_cap: 300 } });
    await ledger.reserve("alice", "h1", 200);
    await refuses(() => ledger.reserve("alice", "h2", 101), {
      ...{ kind: "exhausted", scope: "sub_account", requested: 101, available: 100 },
    });
    await ledger.settle("h1", 120); // 80 of 200 come back
    expect(await purse("alice")).toEqual({ borrowed: 120 });
    await refuses(() => ledger.reserve("alice", "h2", 181), {
      ...{ kind: "exhausted", scope: "sub_account", requested: 181, available: 180 },
    });
    expect(await ledger.reserve("alice", "h2", 180)).toMatchObject({ kind: "reserved" });
    await ledger.void("h2");
    await ledger.refund("h1", "r1", 20);
    expect(await ledger.reserve("alice", "h3", 200)).toMatchObject({
      kind: "reserved",
      funding: from(0, 200),
    });
    expect(await ledger.reserve("bob", "h4", 300)).toMatchObject({ kind: "reserved" }); // a cap each
  });

  test("a cap below what is borrowed already gives nothing, and takes nothing away", async () => {
    await open(1000, { alice: { borrow_cap: 300 } });
    await ledger.reserve("alice", "h1", 200);
    await ledger.putSub("alice", { borrow_cap: 50 }, JSON.stringify({ status: "active", borrow_cap: 300 }));
    await refuses(() => ledger.reserve("alice", "h2", 1), {
      ...{ kind: "exhausted", scope: "sub_account", requested: 1, available: 0 },
    });
    expect(await purse("alice")).toEqual({ borrowed: 200, in_flight: 1 });
    expect(await ledger.settle("h1", 200)).toMatchObject({ kind: "settled", charged: 200, debt: 0 });
  });
});

describe("concurrency_limited", () => {
  test.each([
    ["a void", (hold_id: string) => ledger.void(hold_id)],
    ["a settle", (hold_id: string) => ledger.settle(hold_id, 5)],
    ["an expiry", (hold_id: string) => redis.later(120_000).then(() => ledger.expire(hold_id))],
  ])("as many open holds as it may have, and %s makes room for exactly one", async (_, end) => {
    await open(1000, { alice: { max_concurrent: 2 }, bob: {} });
    for (const id of ["h1", "h2"])
      expect(await ledger.reserve("alice", id, 10)).toMatchObject({ kind: "reserved" });
    await refuses(() => ledger.reserve("alice", "h3", 10), {
      kind: "concurrency_limited",
      max_concurrent: 2,
    });
    expect(await ledger.reserve("bob", "b1", 10)).toMatchObject({ kind: "reserved" });
    await end("h1");
    expect(await ledger.reserve("alice", "h3", 10)).toMatchObject({ kind: "reserved" });
    await refuses(() => ledger.reserve("alice", "h4", 10), {
      kind: "concurrency_limited",
      max_concurrent: 2,
    });
    expect(await purse("alice")).toMatchObject({ in_flight: 2 });
  });

  test("a limit of 0 is nothing; none is no limit", async () => {
    await open(1000, { alice: { max_concurrent: 0 }, bob: {} });
    await refuses(() => ledger.reserve("alice", "h1", 0), { kind: "concurrency_limited", max_concurrent: 0 });
    for (let i = 0; i < 20; i++)
      expect(await ledger.reserve("bob", `h${i}`, 1)).toMatchObject({ kind: "reserved" });
    expect(await state()).toMatchObject({ open: 20, reserved: 20, refused: 1 });
  });
});

checkAfterEach(redis);
