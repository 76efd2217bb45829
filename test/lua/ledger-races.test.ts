// The ledger under many callers at once, on a real Redis: whatever the order, nothing is spent twice and nothing is lost.
import { describe, expect, test } from "vitest";
import { useRedis } from "../support/redis.ts";
import { checkAfterEach, from, ledgerKit } from "./ledger-kit.ts";

const redis = useRedis();
const kit = ledgerKit(redis);
const { ledger, open, purse, state, entries, record, changesNothing } = kit;
const kindsOf = (replies: { kind: string }[]) => {
  const counts: Record<string, number> = {};
  for (const { kind } of replies) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
};
const times = <T>(count: number, make: (i: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, i) => make(i)));

describe("case C21: many parallel reserves never hold more than there is", () => {
  test.each([
    ["the sub-account's own", 100, 0, 30, { reserved: 3, exhausted: 17 }, 10],
    ["the account's", 0, 100, 30, { reserved: 3, exhausted: 17 }, 10],
    ["of both", 50, 50, 30, { reserved: 3, exhausted: 17 }, 10],
    ["of a billion, the same", 1e9, 0, 3e8, { reserved: 3, exhausted: 17 }, 1e8],
    ["of a billion, all of them", 0, 1e9, 30, { reserved: 20 }, 1e9 - 600],
  ] as [string, number, number, number, { reserved: number; exhausted?: number }, number][])(
    "case C21: %s",
    async (_, own, account, amount, kinds, left) => {
      await open(account, { alice: { funds: own } });
      expect(kindsOf(await times(20, (i) => ledger.reserve("alice", `h${i}`, amount)))).toEqual(kinds);
      const purses = [await purse("alice"), await purse()];
      expect(purses.map(({ available = 0 }) => available).reduce((a, b) => a + b)).toBe(left);
      expect(purses.map(({ held = 0 }) => held).reduce((a, b) => a + b)).toBe(kinds.reserved * amount);
      expect(await state()).toMatchObject({ open: kinds.reserved, refused: kinds.exhausted ?? 0 });
    },
  );

  test("case C21: of five sub-accounts on one account", async () => {
    await open(100, { a: {}, b: {}, c: {}, d: {}, e: {} });
    const replies = await times(20, (i) => ledger.reserve("abcde"[i % 5] ?? "", `h${i}`, 30));
    expect(kindsOf(replies)).toEqual({ reserved: 3, exhausted: 17 });
    expect(await purse()).toEqual({ available: 10, held: 90, funded: 100 });
  });
});

describe("case C22: settle 700 and void of one hold of 1000 are one end", () => {
  const closed = (state: "settled" | "voided", charged: number) =>
    ({ kind: "closed", state, charged }) as const;

  test("case C22: settle first", async () => {
    await open(5000);
    await ledger.reserve("alice", "h1", 1000);
    const first = await ledger.settle("h1", 700);
    expect(first).toMatchObject({ kind: "settled", charged: 700, returned: from(0, 300), replayed: false });
    await changesNothing(() => ledger.void("h1"), closed("settled", 700));
    await changesNothing(() => ledger.settle("h1", 700), { ...first, replayed: true } as typeof first);
    await changesNothing(() => ledger.settle("h1", 900), closed("settled", 700));
    expect(await purse()).toEqual({ available: 4300, spent: 700, funded: 5000 });
  });

  test("case C22: void first", async () => {
    await open(5000);
    await ledger.reserve("alice", "h1", 1000);
    await ledger.void("h1");
    await changesNothing(() => ledger.settle("h1", 700), closed("voided", 0));
    await changesNothing(() => ledger.void("h1"), {
      kind: "voided",
      returned: from(0, 1000),
      replayed: true,
    });
    expect(await purse()).toEqual({ available: 5000, funded: 5000 });
  });

  test("case C22: in parallel, 100 times: the change is -700 or 0, and all who ask again are told the same", async () => {
    await open(200_000);
    let charged = 0;
    for (let i = 0; i < 100; i++) {
      const [id, settle, cancel] = [`h${i}`, () => ledger.settle(`h${i}`, 700), () => ledger.void(`h${i}`)];
      await ledger.reserve("alice", id, 1000);
      const both = i % 2 === 0 ? [settle, cancel, settle, cancel] : [cancel, settle, cancel, settle];
      const kinds = kindsOf(await Promise.all(both.map((verb) => verb())));
      const settled = kinds.settled === 2;
      expect(kinds).toEqual(settled ? { settled: 2, closed: 2 } : { voided: 2, closed: 2 });
      charged += settled ? 700 : 0;
      expect(await purse()).toMatchObject({ available: 200_000 - charged });
      expect((await record(id))?.split(" ")[1]).toBe(settled ? "settled" : "voided");
    }
    expect((await entries()).filter(({ hold }) => hold !== "")).toHaveLength(100);
    expect(await state()).toMatchObject({ open: 0, reserved: 100 });
  }, 60_000);
});

describe("case C24: a hold's id is one hold", () => {
  test("case C24: the same again is one charge, other arguments a conflict, and after the end the end is told", async () => {
    await open(1000);
    const first = await ledger.reserve("alice", "R1", 100);
    await changesNothing(() => ledger.reserve("alice", "R1", 100), {
      ...first,
      replayed: true,
    } as typeof first);
    await changesNothing(() => ledger.reserve("alice", "R1", 200), { kind: "conflict" });
    await ledger.settle("R1", 80);
    const told = { kind: "closed", state: "settled", charged: 80 } as const;
    await changesNothing(() => ledger.reserve("alice", "R1", 100), told);
    await ledger.reserve("alice", "R2", 100);
    await ledger.void("R2");
    const other = { kind: "closed", state: "voided", charged: 0 } as const;
    await changesNothing(() => ledger.reserve("alice", "R2", 100), other);
    expect(await purse()).toEqual({ available: 920, spent: 80, funded: 1000 });
  });

  test("case C24: a new id ten times in parallel is one hold", async () => {
    await open(1000);
    const replies = await times(10, () => ledger.reserve("alice", "R1", 100));
    const fresh = replies.filter((reply) => reply.kind === "reserved" && !reply.replayed);
    expect([fresh.length, kindsOf(replies)]).toEqual([1, { reserved: 10 }]);
    expect(await purse()).toEqual({ available: 900, held: 100, funded: 1000 });
    expect(await state()).toMatchObject({ open: 1, reserved: 1, refused: 0 });
  });

  test("case C24: ten in parallel with ten amounts are one hold and nine conflicts", async () => {
    await open(1000);
    const replies = await times(10, (i) => ledger.reserve("alice", "R1", i + 1));
    expect(kindsOf(replies)).toEqual({ reserved: 1, conflict: 9 });
    const [one] = replies.filter(({ kind }) => kind === "reserved");
    expect(await purse()).toMatchObject({ held: one?.kind === "reserved" ? one.amount : -1 });
  });
});

describe("case C25: one id in two places is two things", () => {
  test("case C25: two tenants use one hold id, and neither sees the other's answer", async () => {
    const other = ledgerKit(redis, "globex");
    await open(1000);
    await other.open(50);
    await ledger.reserve("alice", "same", 100);
    expect(await other.ledger.reserve("alice", "same", 50)).toMatchObject({ replayed: false, amount: 50 });
    expect(await ledger.settle("same", 70)).toMatchObject({ charged: 70, replayed: false });
    expect(await other.ledger.void("same")).toMatchObject({ returned: from(0, 50), replayed: false });
    await changesNothing(() => other.ledger.settle("same", 70), {
      kind: "closed",
      state: "voided",
      charged: 0,
    });
    const ends = async (one: typeof kit) => (await one.entries()).filter(({ hold }) => hold === "same");
    expect([await ends(kit), await ends(other)]).toMatchObject([[{ kind: "settle" }], [{ kind: "void" }]]);
  });

  test("case C25: a hold, an adjustment and a refund of one tenant under one id", async () => {
    await open(1000);
    await ledger.reserve("alice", "same", 100);
    expect(await ledger.adjust("", "same", "grant", 5)).toMatchObject({ kind: "adjusted", replayed: false });
    await ledger.settle("same", 70);
    expect(await ledger.refund("same", "same", 5)).toMatchObject({ kind: "refunded", replayed: false });
    expect((await entries()).slice(-3)).toMatchObject([
      { kind: "adjust", op: "same", hold: "" },
      { kind: "settle", op: "", hold: "same" },
      { kind: "refund", op: "same", hold: "same" },
    ]);
  });
});

test("case C34: two sub-accounts borrow the last 10 in parallel: one wins, and what it returns is the account's", async () => {
  await open(10, { alice: { funds: 3 }, bob: { funds: 3 } });
  for (let i = 0; i < 20; i++) {
    const subs = i % 2 === 0 ? (["alice", "bob"] as const) : (["bob", "alice"] as const);
    const replies = await Promise.all(subs.map((sub) => ledger.reserve(sub, `${sub}-${i}`, 13)));
    expect(kindsOf(replies)).toEqual({ reserved: 1, exhausted: 1 });
    const [winner = "", loser = ""] = replies[0]?.kind === "reserved" ? subs : subs.toReversed();
    expect(await purse(winner)).toEqual({ held: 3, funded: 3, borrowed: 10, in_flight: 1 });
    expect(await purse(loser)).toEqual({ available: 3, funded: 3 });
    expect(await ledger.void(`${winner}-${i}`)).toMatchObject({ returned: from(3, 10) });
    expect([await purse(winner), await purse()]).toEqual([
      { available: 3, funded: 3 },
      { available: 10, funded: 10 },
    ]);
  }
});

checkAfterEach(redis);
