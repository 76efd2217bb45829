// A sub-account's debt, on a real Redis: who makes it, who is held up by it, and what pays it first.
import { describe, expect, test } from "vitest";
import { useRedis } from "../support/redis.ts";
import { checkAfterEach, from, ledgerKit } from "./ledger-kit.ts";

const redis = useRedis();
const { ledger, open, purse, grant, refuses, last, field } = ledgerKit(redis);
const refused = (requested: number) =>
  ({ kind: "exhausted", scope: "debt", requested, available: 0 }) as const;

/** Alice has nothing, owes 60, and has an open hold of 40 of her own funds. */
async function inDebt() {
  await open(0, { alice: { funds: 100 }, bob: { funds: 500 } });
  await ledger.reserve("alice", "open", 40);
  await ledger.reserve("alice", "over", 60);
  expect(await ledger.settle("over", 120)).toMatchObject({ kind: "settled", charged: 120, debt: 60 });
  expect(await purse("alice")).toEqual({ held: 40, spent: 120, debt: 60, funded: 100, in_flight: 1 });
}

test("case C26: what was used above the funds is the sub-account's debt, and the top-up pays it first", async () => {
  await open(100, { alice: {}, bob: { funds: 10 } });
  await ledger.reserve("alice", "h1", 60);
  expect(await ledger.settle("h1", 160)).toEqual({
    ...{ kind: "settled", charged: 160, returned: [], debt: 60, replayed: false },
  });
  expect(await purse("alice")).toEqual({ spent: 60, debt: 60, borrowed: 100 });
  expect(await purse()).toEqual({ spent: 100, funded: 100 });
  await refuses(() => ledger.reserve("alice", "h2", 1), refused(1));
  await refuses(() => ledger.reserve("alice", "h2", 0), refused(0));
  expect(await ledger.reserve("bob", "b1", 10)).toMatchObject({ kind: "reserved" });
  expect(await grant("alice", 100)).toMatchObject({ kind: "adjusted", by: 100, available: 40, debt: 0 });
  expect(await purse("alice")).toEqual({ available: 40, spent: 60, funded: 100, borrowed: 100 });
  expect(await last()).toMatchObject({ purses: [["purse:alice", 0, 0, -60, 100, 40, 0, 60, 0, 0, 100]] });
  expect(await ledger.reserve("alice", "h2", 40)).toMatchObject({ kind: "reserved", funding: from(40, 0) });
});

describe("what pays a debt of 60 first", () => {
  const inflows: [string, () => Promise<unknown>, object][] = [
    [
      "a grant, in part",
      () => grant("alice", 59),
      { debt: 1, held: 40, spent: 120, funded: 159, in_flight: 1 },
    ],
    ["a grant, to the end", () => grant("alice", 60), { held: 40, spent: 120, funded: 160, in_flight: 1 }],
    [
      "a grant, and more",
      () => grant("alice", 61),
      { available: 1, held: 40, spent: 120, funded: 161, in_flight: 1 },
    ],
    [
      "a set",
      () => ledger.adjust("alice", "s", "set", 5),
      { available: 5, held: 40, spent: 120, funded: 165, in_flight: 1 },
    ],
    [
      "a zero",
      () => ledger.adjust("alice", "z", "zero", 0),
      { held: 40, spent: 120, funded: 160, in_flight: 1 },
    ],
    ["what a void returns", () => ledger.void("open"), { debt: 20, spent: 120, funded: 100 }],
    ["what a settle returns", () => ledger.settle("open", 10), { debt: 30, spent: 130, funded: 100 }],
    [
      "what an expiry returns",
      () => redis.later(120_000).then(() => ledger.expire("open")),
      { debt: 20, spent: 120, funded: 100 },
    ],
    [
      "a refund",
      () => ledger.refund("over", "r", 70),
      { available: 10, held: 40, spent: 50, funded: 100, in_flight: 1 },
    ],
  ];
  test.each(inflows)("%s", async (_, inflow, alice) => {
    await inDebt();
    await inflow();
    expect(await purse("alice")).toEqual(alice);
    const free = !("debt" in alice);
    if (!free) return refuses(() => ledger.reserve("alice", "h", 0), refused(0));
    expect(await ledger.reserve("alice", "h", 0)).toMatchObject({ kind: "reserved" });
  });
});

describe("while it lasts", () => {
  test("the account's funds do not pay it, and others are served from them", async () => {
    await inDebt();
    await grant("", 1000);
    expect(await purse()).toEqual({ available: 1000, funded: 1000 });
    await refuses(() => ledger.reserve("alice", "h", 1), refused(1));
    expect(await ledger.reserve("bob", "h", 900)).toMatchObject({
      kind: "reserved",
      funding: from(500, 400),
    });
  });

  test("an open hold may have more time, and may not grow", async () => {
    await inDebt();
    await refuses(() => ledger.extend("open", 1_000, 41), refused(1));
    expect(await ledger.extend("open", 240_000, 40, 7)).toMatchObject({
      kind: "extended",
      amount: 40,
      accrued: 7,
    });
  });

  test("more debt may come: what was used was used", async () => {
    await inDebt();
    expect(await ledger.settle("open", 55)).toMatchObject({ kind: "settled", charged: 55, debt: 15 });
    expect(await purse("alice")).toEqual({ spent: 175, debt: 75, funded: 100 });
  });

  test("what is drawn on the account pays the account back, not the debt", async () => {
    await open(100, { alice: {} });
    await ledger.reserve("alice", "h1", 50);
    await ledger.reserve("alice", "h2", 50);
    await ledger.settle("h1", 80);
    expect(await ledger.void("h2")).toMatchObject({ kind: "voided", returned: from(0, 50) });
    expect(await purse()).toEqual({ available: 50, spent: 50, funded: 100 });
    expect(await purse("alice")).toEqual({ spent: 30, debt: 30, borrowed: 50 });
  });
});

test("a debt of a deleted sub-account is gone with it, and one made again owes nothing", async () => {
  await open(0, { alice: {} });
  await ledger.reserve("alice", "h1", 0);
  await ledger.settle("h1", 25);
  expect(await ledger.removeSub("alice")).toEqual({ kind: "removed", available: 0 });
  expect(await last()).toMatchObject({ purses: [["purse:alice", -25, 0, -25, 0, 0, 0, 0, 0, 0, 0]] });
  expect(await field("purse:alice")).toBeNull();
  await ledger.putSub("alice");
  expect(await purse("alice")).toEqual({});
  expect(await ledger.reserve("alice", "h2", 0)).toMatchObject({ kind: "reserved" });
});

checkAfterEach(redis);
