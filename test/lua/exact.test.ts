// Amounts near 2^53 on a real Redis: every digit in every key, reply and entry, and one more is refused before it is written.
import { expect, test } from "vitest";
import { keys, useRedis } from "../support/redis.ts";
import { checkAfterEach, from, ledgerKit } from "./ledger-kit.ts";

const redis = useRedis();
const kit = ledgerKit(redis);
const { ledger, open, field, made, record, dump, last, changesNothing, refuses } = kit;
const MOST = 9_007_199_254_740_991;

/** No number anywhere has turned into one like 1e+15. */
const noExponent = async () => expect(JSON.stringify(await dump())).not.toMatch(/\de\+/i);

const LARGE = [99_999_999_999_999, 999_999_999_999_999, 1_000_000_000_000_000, MOST - 2, MOST - 1];

test.each(LARGE)("case D35: %d, then 1, reserve 1, settle 1: all digits everywhere", async (large) => {
  await open(0);
  const all = large + 1;
  const account = async () => (await field("account"))?.replace(/ \d+$/, ""); // without `made`
  expect(await ledger.adjust("", "op1", "grant", large)).toMatchObject({ by: large, available: large });
  expect(await ledger.adjust("", "op2", "grant", 1)).toMatchObject({ by: 1, available: all });
  expect(await account()).toBe(`1 ${all} 0 0 0 0 ${all} 0 0`);
  expect(await redis.raw.get(keys.op("acme", "op2"))).toMatch(new RegExp(`^1 \\S+ 1 ${all} 0$`));
  expect((await last())?.purses).toEqual([["account", 0, 0, 0, 1, all, 0, 0, 0, 0, all]]);
  const reserved = { kind: "reserved", amount: 1, funding: from(0, 1), account_available: large };
  expect(await ledger.reserve("alice", "h1", 1)).toMatchObject(reserved);
  expect(await account()).toBe(`1 ${large} 1 0 0 0 ${all} 0 0`);
  await noExponent();
  expect(await ledger.settle("h1", 1)).toMatchObject({ kind: "settled", charged: 1, debt: 0 });
  expect(await account()).toBe(`1 ${large} 0 1 0 0 ${all} 0 0`);
  expect((await last())?.purses).toEqual([["account", 1, 0, 0, 0, large, 0, 1, 0, 0, all]]);
  await noExponent();
});

test.each([...LARGE, MOST])(
  "case D35: all of %d through a whole life: held, grown, charged, given back",
  async (large) => {
    await open(0, { alice: { funds: large } });
    await ledger.reserve("alice", "h1", large - 1, { fingerprint: "args" });
    expect(await ledger.extend("h1", 120_000, large, large)).toMatchObject({ amount: large, accrued: large });
    const [at, end] = [redis.now_ms, redis.now_ms + 120_000];
    const text = `1 open alice ${await made("alice")} args ${at} ${end} ${large} ${large} ${large} 0 0 0 0 0 - 0 0 -\n`;
    expect(await record("h1")).toBe(`${text}[["m",${large - 1},0,1]]\n[]\n`);
    expect(await ledger.settle("h1", large - 1)).toMatchObject({ charged: large - 1, returned: from(1, 0) });
    expect(await last()).toMatchObject({ amount: String(large - 1) });
    const refunded = { kind: "refunded", returned: from(large - 1, 0), left: 0, replayed: false } as const;
    expect(await ledger.refund("h1", "r1", large - 1)).toEqual(refunded);
    expect((await record("h1"))?.split("\n")[2]).toBe(`[["r1",${large - 1},${large - 1},0,0]]`);
    expect(await last()).toMatchObject({
      amount: `-${large - 1}`,
      purses: [["purse:alice", 1 - large, 0, 0, 0, large, 0, 0, 0, 0, large]],
    });
    expect(await ledger.adjust("alice", "op9", "deduct", large)).toMatchObject({ by: -large, available: 0 });
    await noExponent();
  },
);

test("case D35: 2^53-1 plus 1 is refused before it is written, in whichever way it comes", async () => {
  await open(MOST, { alice: { funds: MOST } });
  for (const sub of ["", "alice"]) {
    await changesNothing(() => ledger.adjust(sub, "op1", "grant", 1), { kind: "unsafe" });
    await changesNothing(() => ledger.adjust(sub, "op1", "grant", MOST), { kind: "unsafe" });
  }
  await ledger.reserve("alice", "h1", 1);
  await changesNothing(() => ledger.adjust("alice", "op1", "set", MOST), { kind: "unsafe" }); // with what is held
  await ledger.reserve("alice", "h2", MOST);
  const more = { kind: "exhausted", scope: "account", requested: MOST, available: MOST - 1 } as const;
  await refuses(() => ledger.reserve("alice", "h3", MOST), more);
  expect(await ledger.reserve("alice", "h3", MOST - 1)).toMatchObject({
    kind: "reserved",
    account_available: 0,
  });
  for (const id of ["h1", "h2"]) await ledger.void(id);
  expect(await ledger.settle("h3", MOST)).toMatchObject({ kind: "settled", charged: MOST, debt: 0 });
  await noExponent();
});

test("case D35: a price of 1 and a balance of 2^53-1 are added and taken apart without a loss, a hundred times", async () => {
  await open(MOST);
  for (let i = 0; i < 100; i++) {
    await ledger.reserve("alice", `h${i}`, 1_000_003);
    await ledger.settle(`h${i}`, i % 2 === 0 ? 1 : 1_000_003);
  }
  const spent = 50 + 50 * 1_000_003;
  expect(await field("account")).toMatch(new RegExp(`^1 ${MOST - spent} 0 ${spent} 0 0 ${MOST} `));
});

checkAfterEach(redis);
