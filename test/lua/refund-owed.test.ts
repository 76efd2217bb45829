// A refund of a charge that left a debt, on a real Redis: what was owed was drawn last, so it is what comes back first.
import { expect, test } from "vitest";
import { useRedis } from "../support/redis.ts";
import { checkAfterEach, from, ledgerKit, rowsFrom } from "./ledger-kit.ts";

const redis = useRedis();
const kit = ledgerKit(redis);
const { ledger, open, purse, last, changesNothing } = kit;

/** A charge of 160 that left a debt of 60; the other 100 are the account's. */
async function owing() {
  await open(100);
  await ledger.reserve("alice", "h1", 60);
  expect(await ledger.settle("h1", 160)).toMatchObject({ returned: [], debt: 60 });
  expect(await purse("alice")).toEqual({ spent: 60, debt: 60, borrowed: 100 });
}

test("what was owed was drawn last: it is paid first, and the account gets nothing", async () => {
  await owing();
  expect(await ledger.refund("h1", "r1", 60)).toMatchObject({ returned: from(60, 0), left: 100 });
  expect([await purse("alice"), await purse()]).toEqual([{ borrowed: 100 }, { spent: 100, funded: 100 }]);
  expect(await last()).toMatchObject({
    ...{ amount: "-60", detail: { returned: rowsFrom(60, 0), left: 100 } },
    purses: [["purse:alice", -60, 0, -60, 0, 0, 0, 0, 0, 0, 0]],
  });
});

test("in parts, past the debt and to the last micro", async () => {
  await owing();
  const parts: [number, ReturnType<typeof from>, number][] = [
    [59, from(59, 0), 101],
    [2, from(1, 1), 99],
    [99, from(0, 99), 0],
  ];
  for (const [i, [amount, returned, left]] of parts.entries())
    expect(await ledger.refund("h1", `r${i}`, amount)).toMatchObject({ kind: "refunded", returned, left });
  expect([await purse("alice"), await purse()]).toEqual([{}, { available: 100, funded: 100 }]);
});

test("also when a top-up has paid it: then the sub-account has that again", async () => {
  await owing();
  await kit.grant("alice", 70);
  expect(await ledger.refund("h1", "r1", 80)).toMatchObject({ returned: from(60, 20), left: 80 });
  expect(await purse("alice")).toEqual({ available: 70, funded: 70, borrowed: 80 });
  expect(await purse()).toEqual({ available: 20, spent: 80, funded: 100 });
});

test("the settle is still told its first answer: what it left as a debt then", async () => {
  await owing();
  await ledger.refund("h1", "r1", 90);
  const again = { kind: "settled" as const, charged: 160, returned: [], debt: 60, replayed: true };
  await changesNothing(() => ledger.settle("h1", 160), again);
});

test("of its own debt only: what another hold owes is not drawn by this one", async () => {
  await open(100);
  await ledger.reserve("alice", "h1", 50);
  await ledger.reserve("alice", "h2", 50);
  await ledger.settle("h1", 50);
  expect(await ledger.settle("h2", 80)).toMatchObject({ debt: 30 });
  expect(await ledger.refund("h1", "r1", 40)).toMatchObject({ returned: from(0, 40), left: 10 });
  expect(await purse("alice")).toEqual({ spent: 30, debt: 30, borrowed: 60 });
});

checkAfterEach(redis);
