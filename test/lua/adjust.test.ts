// quota/adjust on a real Redis: a row per reply, with the purse, the remembered answer and the journal entry.
import { describe, expect, test } from "vitest";
import { keys, useRedis } from "../support/redis.ts";
import { checkAfterEach, from, ledgerKit, nonzero } from "./ledger-kit.ts";

const redis = useRedis();
const kit = ledgerKit(redis);
const { ledger, open, purse, state, field, endsIn, last, entry, entries, changesNothing, dump } = kit;
const OP_KEEP_MS = 24 * 3_600_000;
const MOST = 2 ** 53 - 1;

/** Alice has 100 available, 30 held and 20 spent; the account has 1000. */
async function opened() {
  await open(1000, { alice: { funds: 150 } });
  await ledger.reserve("alice", "h1", 50);
  await ledger.settle("h1", 20);
  await ledger.reserve("alice", "h2", 30);
}
const rest = { held: 30, spent: 20, in_flight: 1 };

describe("adjusted", () => {
  test.each([
    ["grant", 40, 40, 140],
    ["grant", 0, 0, 100],
    ["deduct", 40, -40, 60],
    ["deduct", 100, -100, 0],
    ["set", 250, 150, 250],
    ["set", 10, -90, 10],
    ["set", 100, 0, 100],
    ["set", 0, -100, 0],
    ["zero", 0, -100, 0],
  ] as const)(
    "%s %d: what is held or spent stays, and what came in is in the books",
    async (how, amount, by, available) => {
      await opened();
      const seq = (await state()).seq ?? 0;
      expect(await ledger.adjust("alice", "op1", how, amount, "args")).toEqual({
        ...{ kind: "adjusted", by, available, debt: 0, replayed: false },
      });
      expect(await purse("alice")).toEqual(nonzero({ ...rest, available, funded: 150 + by }));
      expect(await purse()).toEqual({ available: 1000, funded: 1000 });
      expect(await state()).toMatchObject({ seq: seq + 1, open: 1, refused: 0 });
      const purses = by === 0 ? [] : [["purse:alice", 0, 0, 0, by, available, 30, 20, 0, 0, 150 + by]];
      const told = { kind: "adjust", actor: "admin", sub_account: "alice", op: "op1", amount: String(by) };
      expect(await last()).toEqual(await entry({ ...told, purses, detail: { kind: how, note: {} } }));
    },
  );

  test("the account: nobody's sub-account changes, and the entry names none", async () => {
    await opened();
    const alice = await field("purse:alice");
    expect(await ledger.adjust("", "op1", "deduct", 300)).toMatchObject({ by: -300, available: 700 });
    expect(await purse()).toEqual({ available: 700, funded: 700 });
    expect(await field("purse:alice")).toBe(alice);
    expect(await last()).toMatchObject({
      ...{ sub_account: "", op: "op1", amount: "-300" },
      purses: [["account", 0, 0, 0, -300, 700, 0, 0, 0, 0, 700]],
    });
  });

  test("a deduct of nothing is remembered as 0, not as -0", async () => {
    await opened();
    const ask = () => ledger.adjust("alice", "op1", "deduct", 0, "args");
    expect(await ask()).toMatchObject({ by: 0, replayed: false });
    expect(await redis.raw.get(keys.op("acme", "op1"))).toBe("1 args 0 100 0");
    expect(await ask()).toMatchObject({ by: 0, replayed: true });
  });

  test("the answer is remembered for a day, and then the id is free", async () => {
    await opened();
    await ledger.adjust("alice", "op1", "grant", 40, "args");
    const op_key = keys.op("acme", "op1");
    expect(await redis.raw.get(op_key)).toBe("1 args 40 140 0");
    expect(await endsIn(op_key)).toBe(OP_KEEP_MS);
    await redis.later(OP_KEEP_MS);
    expect(await ledger.adjust("alice", "op1", "grant", 40, "args")).toMatchObject({
      available: 180,
      replayed: false,
    });
  });

  test.each([
    ["set", 0, 30, 0],
    ["set", 12, 42, 12],
    ["zero", 0, 30, 0],
    ["grant", 12, 12, 0],
    ["grant", 30, 30, 0],
    ["grant", 31, 31, 1],
  ] as const)("with a debt of 30: %s %d brings in %d and leaves %d", async (how, amount, by, available) => {
    await open(0, { alice: {} });
    await ledger.reserve("alice", "h1", 0);
    await ledger.settle("h1", 30);
    const debt = Math.max(0, 30 - by);
    expect(await ledger.adjust("alice", "op1", how, amount)).toMatchObject({ by, available, debt });
    expect(await purse("alice")).toEqual(nonzero({ available, spent: 30, debt, funded: by }));
    const told = ["purse:alice", 0, 0, debt - 30, by, available, 0, 30, 0, debt, by];
    expect(await last()).toMatchObject({ amount: String(by), purses: [told] });
  });
});

describe("once by its op_id", () => {
  test("the same again is told the first answer, whatever the purse has now and even when it is gone", async () => {
    await opened();
    const ask = () => ledger.adjust("alice", "op1", "deduct", 60);
    const first = await ask();
    expect(first).toMatchObject({ by: -60, available: 40, replayed: false });
    const again = { ...first, replayed: true } as typeof first;
    await ledger.adjust("alice", "op2", "zero", 0); // a second deduct of 60 would be insufficient
    await changesNothing(ask, again);
    await ledger.void("h2");
    await ledger.removeSub("alice");
    await changesNothing(ask, again);
    await ledger.remove();
    await changesNothing(ask, again);
  });

  test("conflict: another purse, kind or amount under the same id, also when it would be refused", async () => {
    await opened();
    await ledger.adjust("alice", "op1", "grant", 40);
    for (const verb of [
      () => ledger.adjust("alice", "op1", "grant", 41),
      () => ledger.adjust("alice", "op1", "set", 40),
      () => ledger.adjust("", "op1", "grant", 40),
      () => ledger.adjust("alice", "op1", "deduct", MOST),
      () => ledger.adjust("ghost", "op1", "grant", 40),
    ]) {
      await changesNothing(verb, { kind: "conflict" });
    }
  });

  test("ten at once with one id are one grant; ten ids are ten", async () => {
    await opened();
    const many = (id: (i: number) => string) =>
      Promise.all(Array.from({ length: 10 }, (_, i) => ledger.adjust("alice", id(i), "grant", 5)));
    const first = (replies: Awaited<ReturnType<typeof many>>) =>
      replies.filter((reply) => reply.kind === "adjusted" && !reply.replayed);
    expect(first(await many(() => "op1"))).toHaveLength(1);
    expect(await purse("alice")).toMatchObject({ available: 105 });
    expect(first(await many((i) => `other-${i}`))).toHaveLength(10);
    expect(await purse("alice")).toMatchObject({ available: 155 });
  });

  test("a refusal is not remembered: the id serves once it can be done", async () => {
    await opened();
    const ask = () => ledger.adjust("alice", "op1", "deduct", 101);
    await changesNothing(ask, { kind: "insufficient", available: 100 });
    await ledger.void("h2");
    expect(await ask()).toMatchObject({ kind: "adjusted", by: -101, available: 29 });
  });
});

describe("refused, and nothing is changed", () => {
  test("insufficient: what is held cannot be deducted", async () => {
    await opened();
    const reply = { kind: "insufficient", available: 100 } as const;
    await changesNothing(() => ledger.adjust("alice", "op1", "deduct", 101), reply);
    await changesNothing(() => ledger.adjust("", "op1", "deduct", 1001), { ...reply, available: 1000 });
  });

  test("unsafe: no purse comes to more than 2^53-1, whatever it has spent", async () => {
    await opened();
    for (const how of ["grant", "set"] as const) {
      await changesNothing(() => ledger.adjust("alice", "op1", how, MOST), { kind: "unsafe" });
    }
    await changesNothing(() => ledger.adjust("alice", "op1", "grant", MOST - 149), { kind: "unsafe" });
    expect(await ledger.adjust("alice", "op1", "grant", MOST - 150)).toMatchObject({ available: MOST - 50 });
  });

  test("not_found and absent; nothing is remembered of them", async () => {
    await changesNothing(() => ledger.adjust("alice", "op1", "grant", 1), { kind: "absent" });
    await opened();
    await changesNothing(() => ledger.adjust("ghost", "op1", "grant", 1), { kind: "not_found" });
    expect(await ledger.adjust("alice", "op1", "grant", 1)).toMatchObject({ replayed: false });
  });

  test.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])(
    "no script is sent %d",
    async (amount) => {
      await opened();
      const before = await dump();
      await expect(ledger.adjust("alice", "op1", "grant", amount)).rejects.toThrow();
      expect(await dump()).toEqual(before);
    },
  );
});

test("adjusts beside reserves lose nothing: +50 while 20 reserves of 1 run is start + 50 - 20", async () => {
  await open(0, { alice: { funds: 70 } });
  const replies = await Promise.all([
    ...Array.from({ length: 10 }, (_, i) => ledger.reserve("alice", `a${i}`, 1)),
    ledger.adjust("alice", "op1", "grant", 50),
    ...Array.from({ length: 10 }, (_, i) => ledger.reserve("alice", `b${i}`, 1)),
  ]);
  expect(replies.filter(({ kind }) => kind === "reserved")).toHaveLength(20);
  expect(await purse("alice")).toEqual({ available: 100, held: 20, funded: 120, in_flight: 20 });
  expect(await ledger.reserve("alice", "rest", 100)).toMatchObject({ funding: from(100, 0) });
  expect(await entries()).toHaveLength(4);
});

checkAfterEach(redis);
