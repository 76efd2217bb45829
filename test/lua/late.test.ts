// A settle after an expiry, on a real Redis: what was used is charged after all, up or down, once.
import { expect, test } from "vitest";
import { HOLD_KEEP_MS } from "../support/ledger.ts";
import { useRedis } from "../support/redis.ts";
import { checkAfterEach, from, ledgerKit, nonzero, rowsFrom } from "./ledger-kit.ts";

const redis = useRedis();
const kit = ledgerKit(redis);
const { ledger, open, purse, endsIn, last, changesNothing } = kit;
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

test("a refund after it gives back of what the late settle charged", async () => {
  await held(750);
  await overdue();
  await ledger.expire("h1");
  await ledger.settle("h1", 600);
  expect(await ledger.refund("h1", "r1", 150)).toMatchObject({ returned: from(50, 100), left: 450 });
  await changesNothing(() => ledger.refund("h1", "r2", 451), { kind: "too_much", left: 450 });
});

checkAfterEach(redis);
