// quota/void and quota/expire on a real Redis: a row per reply, and what each leaves behind.
import { describe, expect, test } from "vitest";
import { HOLD_KEEP_MS } from "../support/ledger.ts";
import { useRedis } from "../support/redis.ts";
import { checkAfterEach, from, ledgerKit, rowsFrom } from "./ledger-kit.ts";

const redis = useRedis();
const kit = ledgerKit(redis);
const { ledger, open, purse, state, record, due, endsIn, made, last, entry, changesNothing } = kit;
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

describe("void", () => {
  test("voided: everything is back where it was, and the entry says that nothing was charged", async () => {
    await held();
    expect(await ledger.void("h1")).toEqual({ kind: "voided", returned: from(500, 300), replayed: false });
    expect(await purse("alice")).toEqual({ available: 500, funded: 500 });
    expect(await purse()).toEqual({ available: 1000, funded: 1000 });
    expect(await state()).toEqual({ seq: 5, subs: 1, open: 0, reserved: 1, refused: 0 });
    const at = redis.now_ms;
    expect(await record("h1")).toBe(
      `1 voided alice ${await made("alice")} args ${at} ${at + TTL_MS} 800 0 500 300 0 0 500 300 - 0 0 -\n` +
        '[["m",800,0,1]]\n[]\nnote',
    );
    expect([await due("h1"), await endsIn(ledger.hold_key("h1"))]).toEqual([null, HOLD_KEEP_MS]);
    const purses = [
      ["account", 0, 0, 0, 0, 1000, 0, 0, 0, 0, 1000],
      ["purse:alice", 0, 0, 0, 0, 500, 0, 0, 0, 0, 500],
    ];
    const detail = life({ state: "voided", returned: rowsFrom(500, 300) });
    const told = {
      kind: "void",
      actor: "internal",
      sub_account: "alice",
      hold: "h1",
      amount: "0",
      metadata: "note",
    };
    expect(await last()).toEqual(await entry({ ...told, purses, detail }));
  });

  test("cancelled is cancelled: what had accrued is not charged, nor is it after the deadline", async () => {
    await held(750);
    await overdue();
    expect(await ledger.void("h1")).toMatchObject({ kind: "voided", returned: from(500, 300) });
    expect(await last()).toMatchObject({ amount: "0", detail: { charged: 0, accrued: 750 } });
  });

  test("again: the first answer, also when the tenant is gone; any other end is told how it ended", async () => {
    await held();
    await ledger.void("h1");
    const again = { kind: "voided", returned: from(500, 300), replayed: true } as const;
    const closed = { kind: "closed", state: "voided", charged: 0 } as const;
    await changesNothing(() => ledger.void("h1"), again);
    await changesNothing(() => ledger.settle("h1", 0), closed);
    await changesNothing(() => ledger.extend("h1", 1, 900), closed);
    await changesNothing(() => ledger.refund("h1", "r1", 1), { kind: "not_settled", state: "voided" });
    await overdue();
    await changesNothing(() => ledger.expire("h1"), closed);
    await ledger.remove();
    await changesNothing(() => ledger.void("h1"), again);
  });

  test("not_found and absent", async () => {
    await changesNothing(() => ledger.void("h1"), { kind: "absent" });
    await open(1000);
    await changesNothing(() => ledger.void("h1"), { kind: "not_found" });
  });
});

describe("expire", () => {
  test("not_due: not a millisecond before its deadline, and an extended one later", async () => {
    await held();
    const expires_at_ms = redis.now_ms + TTL_MS;
    await redis.later(TTL_MS - 1);
    await changesNothing(() => ledger.expire("h1"), { kind: "not_due", expires_at_ms });
    await ledger.extend("h1", 5_000);
    await redis.later(1);
    await changesNothing(() => ledger.expire("h1"), {
      kind: "not_due",
      expires_at_ms: expires_at_ms + 4_999,
    });
    await redis.later(4_999);
    expect(await ledger.expire("h1")).toMatchObject({ kind: "expired" });
  });

  test("expired: with nothing accrued all goes back, and the sweeper does not come again", async () => {
    await held();
    const detail = life({ state: "expired", returned: rowsFrom(500, 300) });
    await overdue();
    expect(await ledger.expire("h1")).toEqual({ kind: "expired", charged: 0, returned: from(500, 300) });
    expect(await purse("alice")).toEqual({ available: 500, funded: 500 });
    expect([await due("h1"), await endsIn(ledger.hold_key("h1"))]).toEqual([null, HOLD_KEEP_MS]);
    const purses = [
      ["account", 0, 0, 0, 0, 1000, 0, 0, 0, 0, 1000],
      ["purse:alice", 0, 0, 0, 0, 500, 0, 0, 0, 0, 500],
    ];
    const told = {
      kind: "expire",
      actor: "sweep",
      sub_account: "alice",
      hold: "h1",
      amount: "0",
      metadata: "note",
    };
    expect(await last()).toEqual(await entry({ ...told, purses, detail }));
  });

  test.each([
    ["a part of it", 750, from(0, 50), { spent: 500, borrowed: 250 }, { available: 750, spent: 250 }],
    ["more than was held", 1600, [], { spent: 600, debt: 100, borrowed: 1000 }, { spent: 1000 }],
  ])("expired: what had accrued is charged, %s", async (_, accrued, returned, alice, account) => {
    await held(accrued);
    await overdue();
    expect(await ledger.expire("h1")).toEqual({ kind: "expired", charged: accrued, returned });
    expect(await purse("alice")).toEqual({ funded: 500, ...alice });
    expect(await purse()).toEqual({ funded: 1000, ...account });
    expect(await last()).toMatchObject({ amount: String(accrued), detail: { charged: accrued, accrued } });
  });

  test.each([
    [5, 5],
    [4, 6],
    [6, 4],
  ])(
    "never refused for what it would owe: of %d it charges no more than stays exact beside %d",
    async (one, two) => {
      const most = 2 ** 53 - 1;
      await open(0, { alice: { funds: 10 } });
      await ledger.reserve("alice", "h1", one);
      await ledger.extend("h1", TTL_MS, 0, most);
      await ledger.reserve("alice", "h2", two);
      await overdue();
      expect(await ledger.expire("h1")).toEqual({ kind: "expired", charged: most - two, returned: [] });
      expect(await purse("alice")).toMatchObject({ held: two, debt: most - 10, spent: most - two });
      expect(await ledger.expire("h2")).toMatchObject({ kind: "expired", charged: 0 });
    },
  );

  test("closed, not_found and absent leave nothing for the sweeper to come back for", async () => {
    const stale = (hold_id: string) => redis.raw.zadd(ledger.due_key, 1, `hold acme ${hold_id}`);
    await held();
    await ledger.settle("h1", 800);
    await overdue();
    for (const [hold_id, reply] of [
      ["h1", { kind: "closed", state: "settled", charged: 800 }],
      ["ghost", { kind: "not_found" }],
    ] as const) {
      const before = await kit.dump();
      await stale(hold_id);
      expect(await ledger.expire(hold_id)).toEqual(reply);
      expect(await kit.dump()).toEqual(before);
    }
    await ledger.remove();
    await stale("ghost");
    expect(await ledger.expire("ghost")).toEqual({ kind: "absent" });
    expect(await redis.raw.exists(ledger.due_key)).toBe(0);
  });
});

checkAfterEach(redis);
