// quota/refund on a real Redis: a row per reply, whose money comes back first, and what is left to give back.
import { describe, expect, test } from "vitest";
import { HOLD_KEEP_MS } from "../support/ledger.ts";
import { useRedis } from "../support/redis.ts";
import { checkAfterEach, from, ledgerKit, rowsFrom } from "./ledger-kit.ts";

const redis = useRedis();
const kit = ledgerKit(redis);
const { ledger, open, purse, state, record, endsIn, made, last, entry, changesNothing } = kit;

/** A hold that was charged 700: 500 of alice's own, 200 of the account. */
async function settled() {
  await open(1000, { alice: { funds: 500 } });
  await ledger.reserve("alice", "h1", 800, { fingerprint: "args", metadata: "note" });
  await ledger.settle("h1", 700, [], "end");
}

describe("refunded", () => {
  test("the account's part first: purses, record and entry say the same, and the record is not kept longer", async () => {
    await settled();
    const at = redis.now_ms;
    await redis.later(1_000);
    expect(await ledger.refund("h1", "r1", 250)).toEqual({
      ...{ kind: "refunded", returned: from(50, 200), left: 450, replayed: false },
    });
    expect(await purse("alice")).toEqual({ available: 50, spent: 450, funded: 500 });
    expect(await purse()).toEqual({ available: 1000, funded: 1000 });
    expect(await state()).toMatchObject({ seq: 6, open: 0, reserved: 1, refused: 0 });
    expect(await record("h1")).toBe(
      `1 settled alice ${await made("alice")} args ${at} ${at + 120_000} 800 0 500 300 450 0 0 100 end 700 0 -\n` +
        '[["m",800,0,1]]\n[["r1",250,50,200,450]]\nnote',
    );
    expect(await endsIn(ledger.hold_key("h1"))).toBe(HOLD_KEEP_MS - 1_000);
    const purses = [
      ["account", -200, 0, 0, 0, 1000, 0, 0, 0, 0, 1000],
      ["purse:alice", -50, 0, 0, 0, 50, 0, 450, 0, 0, 500],
    ];
    const detail = { returned: rowsFrom(50, 200), left: 450, home: "-", note: {} };
    const told = {
      kind: "refund",
      actor: "internal",
      sub_account: "alice",
      hold: "h1",
      op: "r1",
      amount: "-250",
    };
    expect(await last()).toEqual(await entry({ ...told, metadata: "note", purses, detail }));
  });

  test("in parts, to the last micro and never beyond: what was charged is all that can come back", async () => {
    await settled();
    const parts: [number, ReturnType<typeof from>, number][] = [
      [150, from(0, 150), 550],
      [51, from(1, 50), 499],
      [499, from(499, 0), 0],
    ];
    for (const [i, [amount, returned, left]] of parts.entries()) {
      expect(await ledger.refund("h1", `r${i}`, amount)).toMatchObject({ kind: "refunded", returned, left });
    }
    await changesNothing(() => ledger.refund("h1", "more", 1), { kind: "too_much", left: 0 });
    expect([await purse("alice"), await purse()]).toEqual([
      { available: 500, funded: 500 },
      { available: 1000, funded: 1000 },
    ]);
  });

  test("too_much: all of it or nothing, and it says what is left", async () => {
    await settled();
    await changesNothing(() => ledger.refund("h1", "r1", 701), { kind: "too_much", left: 700 });
    expect(await ledger.refund("h1", "r1", 700)).toMatchObject({ kind: "refunded", left: 0 });
  });

  test("twenty at once that together are too much: no more than was charged comes back", async () => {
    await settled();
    const replies = await Promise.all(Array.from({ length: 20 }, (_, i) => ledger.refund("h1", `r${i}`, 99)));
    expect(replies.filter(({ kind }) => kind === "refunded")).toHaveLength(7);
    expect(replies.filter(({ kind }) => kind === "too_much")).toHaveLength(13);
    expect(await purse("alice")).toEqual({ available: 493, spent: 7, funded: 500 });
  });
});

describe("once by its op_id", () => {
  test("the same again is told the first answer, whatever came after it; with another amount it is a conflict", async () => {
    await settled();
    const first = await ledger.refund("h1", "r1", 250);
    await ledger.refund("h1", "r2", 450);
    const again = { ...first, replayed: true } as typeof first;
    await changesNothing(() => ledger.refund("h1", "r1", 250), again);
    await changesNothing(() => ledger.refund("h1", "r1", 251), { kind: "conflict" });
    await ledger.removeSub("alice");
    await changesNothing(() => ledger.refund("h1", "r1", 250), again);
    await ledger.remove();
    await changesNothing(() => ledger.refund("h1", "r1", 250), again);
  });

  test("ten at once with one op_id are one refund", async () => {
    await settled();
    const replies = await Promise.all(Array.from({ length: 10 }, () => ledger.refund("h1", "r1", 250)));
    const told = replies.map((reply) => (reply.kind === "refunded" ? [reply.left, reply.replayed] : reply));
    expect(told.toSorted()).toEqual([[450, false], ...Array.from({ length: 9 }, () => [450, true])]);
    expect(await purse("alice")).toMatchObject({ spent: 450 });
  });

  test("of two holds one op_id is two refunds: it is remembered by its hold", async () => {
    await settled();
    await ledger.reserve("alice", "h2", 100);
    await ledger.settle("h2", 100);
    await ledger.refund("h1", "r1", 10);
    expect(await ledger.refund("h2", "r1", 20)).toMatchObject({
      kind: "refunded",
      left: 80,
      replayed: false,
    });
  });
});

describe("refused", () => {
  test("full: the hundredth is the last, and each of the hundred is still known", async () => {
    await settled();
    for (let i = 0; i < 100; i++) await ledger.refund("h1", `r${i}`, 1);
    await changesNothing(() => ledger.refund("h1", "r100", 1), { kind: "full", refunds: 100 });
    for (const [id, left] of [
      ["r0", 699],
      ["r99", 600],
    ] as const) {
      const again = { kind: "refunded", returned: from(0, 1), left, replayed: true } as const;
      await changesNothing(() => ledger.refund("h1", id, 1), again);
    }
    expect(await purse()).toEqual({ available: 900, spent: 100, funded: 1000 });
  });

  test("not_settled: what was not charged by a settle does not come back by a refund", async () => {
    await open(1000);
    const refund = () => ledger.refund("h1", "r1", 1);
    await ledger.reserve("alice", "h1", 100);
    await changesNothing(refund, { kind: "not_settled", state: "open" });
    await ledger.void("h1");
    await changesNothing(refund, { kind: "not_settled", state: "voided" });
  });

  test("not_found and absent: no hold, or its record was kept long enough, or its sub-account is gone", async () => {
    await changesNothing(() => ledger.refund("h1", "r1", 1), { kind: "absent" });
    await settled();
    await changesNothing(() => ledger.refund("h2", "r1", 1), { kind: "not_found" });
    await ledger.removeSub("alice");
    await changesNothing(() => ledger.refund("h1", "r1", 1), { kind: "not_found" });
    await ledger.putSub("alice");
    await kit.grant("alice", 5);
    await changesNothing(() => ledger.refund("h1", "r1", 1), { kind: "not_found" });
    expect(await purse("alice")).toEqual({ available: 5, funded: 5 });
    await ledger.reserve("alice", "h3", 5);
    await ledger.settle("h3", 5);
    await redis.later(HOLD_KEEP_MS);
    await changesNothing(() => ledger.refund("h3", "r1", 1), { kind: "not_found" });
  });
});

checkAfterEach(redis);
