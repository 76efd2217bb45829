// quota/settle on a real Redis: a row per reply, what each charge takes from whom, and the whole life in its journal entry.
import { describe, expect, test } from "vitest";
import { HOLD_KEEP_MS } from "../support/ledger.ts";
import { useRedis } from "../support/redis.ts";
import { checkAfterEach, from, ledgerKit, rowsFrom } from "./ledger-kit.ts";

const redis = useRedis();
const kit = ledgerKit(redis);
const { ledger, open, purse, state, record, due, endsIn, made, last, entry, changesNothing } = kit;
const MOST = 2 ** 53 - 1;

describe("settled", () => {
  test("less than was held: the account gets its part back first, and the entry tells the whole life", async () => {
    await open(1000, { alice: { funds: 500 } });
    const opened_at_ms = redis.now_ms;
    await ledger.reserve("alice", "h1", 800, { fingerprint: "args", metadata: "note" });
    await redis.later(1_000);
    expect(await ledger.settle("h1", 400, [], "end")).toEqual({
      ...{ kind: "settled", charged: 400, returned: from(100, 300), debt: 0, replayed: false },
    });
    expect(await purse("alice")).toEqual({ available: 100, spent: 400, funded: 500 });
    expect(await purse()).toEqual({ available: 1000, funded: 1000 });
    expect(await state()).toEqual({ seq: 5, subs: 1, open: 0, reserved: 1, refused: 0 });
    const expires_at_ms = opened_at_ms + 120_000;
    expect(await record("h1")).toBe(
      `1 settled alice ${await made("alice")} args ${opened_at_ms} ${expires_at_ms} 800 0 500 300 400 0 100 300 end 400 0 -\n` +
        '[["m",800,0,1]]\n[]\nnote',
    );
    expect(await endsIn(ledger.hold_key("h1"))).toBe(HOLD_KEEP_MS);
    expect(await due("h1")).toBeNull();
    const detail = {
      ...{ state: "settled", held: 800, funding: rowsFrom(500, 300), charged: 400, paid: rowsFrom(400, 0) },
      ...{ returned: rowsFrom(100, 300), debt: 0, accrued: 0, opened_at_ms, expires_at_ms, home: "-" },
      ...{ items: [["m", 800, 0, 1]], note: {} },
    };
    const purses = [
      ["account", 0, 0, 0, 0, 1000, 0, 0, 0, 0, 1000],
      ["purse:alice", 400, 0, 0, 0, 100, 0, 400, 0, 0, 500],
    ];
    const told = {
      kind: "settle",
      actor: "internal",
      sub_account: "alice",
      hold: "h1",
      amount: "400",
      metadata: "note",
    };
    expect(await last()).toEqual(await entry({ ...told, purses, detail }));
  });

  test.each([
    ["all of it", 800, [], { spent: 500 }, { available: 700, spent: 300 }],
    ["none of it", 0, from(500, 300), { available: 500 }, { available: 1000 }],
    ["one micro", 1, from(499, 300), { available: 499, spent: 1 }, { available: 1000 }],
    ["just the sub-account's part", 500, from(0, 300), { spent: 500 }, { available: 1000 }],
    ["one above it", 501, from(0, 299), { spent: 500 }, { available: 999, spent: 1 }],
  ])("%s", async (_, actual, returned, alice, account) => {
    await open(1000, { alice: { funds: 500 } });
    await ledger.reserve("alice", "h1", 800);
    expect(await ledger.settle("h1", actual)).toMatchObject({ charged: actual, returned, debt: 0 });
    const borrowed = Math.max(0, actual - 500);
    expect(await purse("alice")).toEqual({ ...alice, funded: 500, ...(borrowed > 0 ? { borrowed } : {}) });
    expect(await purse()).toEqual({ ...account, funded: 1000 });
    expect(await last()).toMatchObject({ amount: String(actual) });
  });

  test("more than was held: of the sub-account, then of the account beyond the cap, then a debt: it was consumed", async () => {
    await open(1000, { alice: { funds: 500, borrow_cap: 100 } });
    await ledger.reserve("alice", "h1", 450);
    expect(await ledger.settle("h1", 1800)).toEqual({
      ...{ kind: "settled", charged: 1800, returned: [], debt: 300, replayed: false },
    });
    expect(await purse("alice")).toEqual({ spent: 800, debt: 300, funded: 500, borrowed: 1000 });
    expect(await purse()).toEqual({ spent: 1000, funded: 1000 });
    expect(await last()).toMatchObject({
      amount: "1800",
      purses: [
        ["account", 1000, 0, 0, 0, 0, 0, 1000, 0, 0, 1000],
        ["purse:alice", 800, 0, 300, 0, 0, 0, 800, 0, 300, 500],
      ],
      detail: { held: 450, charged: 1800, paid: rowsFrom(800, 1000), debt: 300 },
    });
  });

  test("more than was held, and the sub-account has it: nobody else pays", async () => {
    await open(1000, { alice: { funds: 500, borrow_cap: 0 } });
    await ledger.reserve("alice", "h1", 100);
    expect(await ledger.settle("h1", 500)).toMatchObject({ kind: "settled", debt: 0 });
    expect([await purse("alice"), await purse()]).toEqual([
      { spent: 500, funded: 500 },
      { available: 1000, funded: 1000 },
    ]);
  });

  test("what its models used is named in the order of the items, and each may be anything that adds up", async () => {
    await open(1000);
    const items = [
      { model: "a", amount: 100 },
      { model: "b", amount: 200 },
    ];
    await ledger.reserve("alice", "h1", 0, { items });
    const used = [
      { model: "a", amount: 50 },
      { model: "b", amount: 0 },
    ];
    for (const wrong of [used.slice(0, 1), used.toReversed(), [...used, { model: "c", amount: 0 }]]) {
      await changesNothing(() => ledger.settle("h1", 50, wrong), { kind: "mismatch" });
    }
    expect(await ledger.settle("h1", 50, used)).toMatchObject({ kind: "settled", charged: 50 });
  });
});

describe("once", () => {
  test("the same settle again is told the first answer, also after the sub-account and the tenant are gone", async () => {
    await open(1000);
    await ledger.reserve("alice", "h1", 100);
    const first = await ledger.settle("h1", 60);
    expect(first.kind).toBe("settled");
    const again = { ...first, replayed: true } as typeof first;
    await changesNothing(() => ledger.settle("h1", 60), again);
    await ledger.refund("h1", "r1", 10);
    await changesNothing(() => ledger.settle("h1", 60), again);
    await ledger.removeSub("alice");
    await ledger.remove();
    await changesNothing(() => ledger.settle("h1", 60), again);
  });

  test.each([
    ["another amount", () => ledger.settle("h1", 61)],
    ["the same amount with other arguments", () => ledger.settle("h1", 60, [{ model: "m", amount: 60 }])],
    ["a void", () => ledger.void("h1")],
    ["an expiry", () => ledger.expire("h1")],
    ["an extension", () => ledger.extend("h1", 1_000_000, 500)],
  ] as const)("closed: %s after it changes nothing, and is told how it ended", async (_, verb) => {
    await open(1000);
    await ledger.reserve("alice", "h1", 100);
    await ledger.settle("h1", 60);
    await redis.later(200_000);
    await changesNothing<unknown>(verb, { kind: "closed", state: "settled", charged: 60 });
  });

  test("not_found and absent: a hold that is not there is not charged, and no tenant is made for it", async () => {
    await changesNothing(() => ledger.settle("h1", 1), { kind: "absent" });
    await open(1000);
    await changesNothing(() => ledger.settle("h1", 1), { kind: "not_found" });
  });
});

describe("an exact integer, always", () => {
  test("unsafe: a debt that would lose digits is refused, and the hold stays open for a better amount", async () => {
    await open(0, { alice: { funds: 10 } });
    for (const id of ["h1", "h2"]) await ledger.reserve("alice", id, 5);
    await changesNothing(() => ledger.settle("h1", MOST), { kind: "unsafe" });
    expect(await ledger.settle("h1", MOST - 5)).toMatchObject({ kind: "settled", debt: MOST - 10 });
    await changesNothing(() => ledger.settle("h2", 6), { kind: "unsafe" });
    expect(await ledger.settle("h2", 5)).toMatchObject({ kind: "settled", debt: 0 });
    expect(await purse("alice")).toEqual({ spent: MOST, debt: MOST - 10, funded: 10 });
  });

  test.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])(
    "no script is sent %d",
    async (amount) => {
      await open(1000);
      await ledger.reserve("alice", "h1", 100);
      const before = await kit.dump();
      await expect(ledger.settle("h1", amount)).rejects.toThrow();
      expect(await kit.dump()).toEqual(before);
    },
  );
});

checkAfterEach(redis);
