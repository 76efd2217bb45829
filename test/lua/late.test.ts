// A settle after an expiry, on a real Redis: what was used is charged after all, up or down, once.
import { describe, expect, test } from "vitest";
import { HOLD_KEEP_MS } from "../support/ledger.ts";
import { useRedis } from "../support/redis.ts";
import { checkAfterEach, from, ledgerKit, nonzero, rowsFrom } from "./ledger-kit.ts";

const redis = useRedis();
const kit = ledgerKit(redis);
const { ledger, open, purse, record, endsIn, last, changesNothing } = kit;
const TTL_MS = 120_000;
const overdue = () => redis.later(TTL_MS);

/** A hold of 800: 500 of the sub-account's own, 300 of the account; 750 of it accrued where it is said. */
async function held(accrued = 0) {
  await open(1000, { alice: { funds: 500 } });
  await ledger.reserve("alice", "h1", 800, { fingerprint: "args", metadata: "note" });
  if (accrued > 0) await ledger.extend("h1", TTL_MS, 0, accrued);
}
const life = (fields: object) => ({
  ...{ held: 800, funding: rowsFrom(500, 300), charged: 0, paid: [], returned: [], debt: 0, accrued: 0 },
  ...{ opened_at_ms: redis.now_ms, expires_at_ms: redis.now_ms + TTL_MS, home: "-" },
  ...{ items: [["m", 800, 0, 1]], note: {} },
  ...fields,
});

test.each([
  ["less than was charged: the rest goes back, the account's first", 550, from(0, 200), 0, "-200"],
  ["less than the sub-account's part", 300, from(200, 250), 0, "-450"],
  ["as much", 750, [], 0, "0"],
  ["nothing", 0, from(500, 250), 0, "-750"],
  ["more: drawn now", 900, [], 0, "150"],
  ["more than there is: a debt", 1700, [], 200, "950"],
])("%s", async (_, actual, returned, debt, by) => {
  await held(750);
  const detail = life({ state: "settled", accrued: 750 });
  await overdue();
  await ledger.expire("h1");
  await redis.later(1_000);
  const settled = { kind: "settled", charged: actual, returned, debt, replayed: false } as const;
  expect(await ledger.settle("h1", actual)).toEqual(settled);
  const borrowed = Math.min(Math.max(0, actual - 500), 1000);
  expect(await purse()).toEqual(nonzero({ available: 1000 - borrowed, spent: borrowed, funded: 1000 }));
  const told = { kind: "settle", hold: "h1", amount: by, metadata: "note" };
  const paid = rowsFrom(Math.min(actual, 500) + debt, borrowed);
  const rows = returned.map(({ source, amount }) => [source, amount]);
  expect(await last()).toMatchObject({
    ...told,
    detail: { ...detail, charged: actual, paid, returned: rows, debt },
  });
  expect(await endsIn(ledger.hold_key("h1"))).toBe(HOLD_KEEP_MS);
  await changesNothing(() => ledger.settle("h1", actual), { ...settled, replayed: true });
  await changesNothing(() => ledger.settle("h1", actual + 1), {
    kind: "closed",
    state: "settled",
    charged: actual,
  });
});

test("only a settle: it cannot be voided, extended or refunded, and a correction of items must name them", async () => {
  await held(750);
  await overdue();
  await ledger.expire("h1");
  const closed = { kind: "closed", state: "expired", charged: 750 } as const;
  await changesNothing(() => ledger.void("h1"), closed);
  await changesNothing(() => ledger.extend("h1", TTL_MS, 900), closed);
  await changesNothing(() => ledger.expire("h1"), closed);
  await changesNothing(() => ledger.refund("h1", "r1", 1), { kind: "not_settled", state: "expired" });
  await changesNothing(() => ledger.settle("h1", 9, [{ model: "other", amount: 9 }]), { kind: "mismatch" });
  await redis.later(HOLD_KEEP_MS);
  await changesNothing(() => ledger.settle("h1", 700), { kind: "not_found" }); // forgotten, as promised
});

test("of a hold whose sub-account was deleted, also when one of its name is there again: nothing is charged", async () => {
  await held(750);
  await overdue();
  await ledger.expire("h1");
  await ledger.removeSub("alice");
  await changesNothing(() => ledger.settle("h1", 800), { kind: "not_found" });
  await ledger.putSub("alice");
  await kit.grant("alice", 90);
  await changesNothing(() => ledger.settle("h1", 800), { kind: "not_found" });
  expect(await purse("alice")).toEqual({ available: 90, funded: 90 });
});

describe("of a hold that expired with a debt of 100: 600 is the sub-account's, 1000 the account's", () => {
  test.each([
    ["one micro less: only the debt is smaller", 1599, from(1, 0), 99],
    ["just the debt: the account gets nothing", 1500, from(100, 0), 0],
    ["one more: that was the account's", 1499, from(100, 1), 0],
    ["what was held", 800, from(100, 700), 0],
    ["less than the sub-account's own part", 300, from(300, 1000), 0],
    ["nothing", 0, from(600, 1000), 0],
    ["as much", 1600, [], 100],
    ["more", 1601, [], 101],
  ])("%s", async (_, actual, returned, debt) => {
    await held(1600);
    await overdue();
    expect(await ledger.expire("h1")).toEqual({ kind: "expired", charged: 1600, returned: [] });
    expect(await purse("alice")).toEqual({ spent: 600, debt: 100, funded: 500, borrowed: 1000 });
    const settled = { kind: "settled", charged: actual, returned, debt, replayed: false } as const;
    expect(await ledger.settle("h1", actual)).toEqual(settled);
    const own = Math.min(actual, 500);
    const borrowed = Math.min(actual - own, 1000);
    const books = { available: 500 - own, spent: own + debt, debt, funded: 500, borrowed };
    expect(await purse("alice")).toEqual(nonzero(books));
    expect(await purse()).toEqual(nonzero({ available: 1000 - borrowed, spent: borrowed, funded: 1000 }));
    expect((await record("h1"))?.split("\n")[0]).toMatch(new RegExp(` ${actual} ${debt} -$`));
    const rows = returned.map(({ source, amount }) => [source, amount]);
    const detail = { charged: actual, paid: rowsFrom(own + debt, borrowed), returned: rows, debt };
    expect(await last()).toMatchObject({ kind: "settle", amount: String(actual - 1600), detail });
    await changesNothing(() => ledger.settle("h1", actual), { ...settled, replayed: true });
  });

  test("a debt that was paid meanwhile comes back to the sub-account, as what it can spend", async () => {
    await held(1600);
    await overdue();
    await ledger.expire("h1");
    await kit.grant("alice", 130);
    expect(await ledger.settle("h1", 1450)).toMatchObject({ returned: from(100, 50), debt: 0 });
    expect(await purse("alice")).toEqual({ available: 130, spent: 500, funded: 630, borrowed: 950 });
  });

  test("a refund after it takes back what is still owed, then the account's", async () => {
    await held(1600);
    await overdue();
    await ledger.expire("h1");
    await ledger.settle("h1", 1540); // 40 is still owed
    expect(await ledger.refund("h1", "r1", 30)).toMatchObject({ returned: from(30, 0), left: 1510 });
    expect(await ledger.refund("h1", "r2", 30)).toMatchObject({ returned: from(10, 20), left: 1480 });
    expect(await ledger.refund("h1", "r3", 1480)).toMatchObject({ returned: from(500, 980), left: 0 });
    expect(await purse("alice")).toEqual({ available: 500, funded: 500 });
    expect(await purse()).toEqual({ available: 1000, funded: 1000 });
  });
});

test("a refund after it gives back of what the late settle charged", async () => {
  await held(750);
  await overdue();
  await ledger.expire("h1");
  await ledger.settle("h1", 600);
  expect(await ledger.refund("h1", "r1", 150)).toMatchObject({ returned: from(50, 100), left: 450 });
  await changesNothing(() => ledger.refund("h1", "r2", 451), { kind: "too_much", left: 450 });
});

checkAfterEach(redis);
