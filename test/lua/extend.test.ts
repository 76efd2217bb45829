// quota/extend on a real Redis: a hold may live longer, grow and say what it used, and is never made less.
import { describe, expect, test } from "vitest";
import { useRedis } from "../support/redis.ts";
import { checkAfterEach, from, ledgerKit } from "./ledger-kit.ts";

const redis = useRedis();
const kit = ledgerKit(redis);
const { ledger, open, purse, state, record, due, endsIn, made, entries, refuses, changesNothing } = kit;

/** A hold of 100 of alice's own that ends in 10 s. */
async function held(account = 1000, terms = {}) {
  await open(account, { alice: { funds: 100, ...terms } });
  await ledger.reserve("alice", "h1", 100, { ttl_ms: 10_000, fingerprint: "args", metadata: "note" });
  return redis.now_ms;
}

describe("extended", () => {
  test("later, grown and with what has accrued: the record, the purses and the sweeper's list say the same", async () => {
    const opened_at_ms = await held();
    const written = (await entries()).length;
    await redis.later(4_000);
    const expires_at_ms = redis.now_ms + 30_000;
    expect(await ledger.extend("h1", 30_000, 150, 70)).toEqual({
      ...{ kind: "extended", amount: 150, funding: from(100, 50), accrued: 70, expires_at_ms },
    });
    expect(await record("h1")).toBe(
      `1 open alice ${await made("alice")} args ${opened_at_ms} ${expires_at_ms} 150 70 100 50 0 0 0 0 - 0 0 -\n` +
        '[["m",100,0,1]]\n[]\nnote',
    );
    expect(await purse("alice")).toEqual({ held: 100, funded: 100, borrowed: 50, in_flight: 1 });
    expect(await purse()).toEqual({ available: 950, held: 50, funded: 1000 });
    expect([await due("h1"), await endsIn(ledger.hold_key("h1"))]).toEqual([expires_at_ms, null]);
    expect(await state()).toMatchObject({ open: 1, reserved: 1, refused: 0 });
    expect(await entries()).toHaveLength(written); // nothing has left a purse yet
    expect(await ledger.settle("h1", 120)).toMatchObject({ charged: 120, returned: from(0, 30) });
  });

  test("never shorter: a late or lost heartbeat with a short term ends nothing early", async () => {
    const opened_at_ms = await held();
    const expires_at_ms = opened_at_ms + 10_000;
    for (const ttl_ms of [1, 9_999]) {
      await changesNothing(() => ledger.extend("h1", ttl_ms), {
        ...{ kind: "extended", amount: 100, funding: from(100, 0), accrued: 0, expires_at_ms },
      });
    }
    await redis.later(6_000);
    expect(await ledger.extend("h1", 4_001)).toMatchObject({ expires_at_ms: expires_at_ms + 1 });
    expect(await due("h1")).toBe(expires_at_ms + 1);
  });

  test("never smaller: a lower amount and a lower accrual are old news", async () => {
    await held();
    expect(await ledger.extend("h1", 10_000, 120, 80)).toMatchObject({ amount: 120, accrued: 80 });
    for (const [amount, accrued] of [
      [0, 0],
      [119, 79],
      [120, 80],
    ] as const) {
      const reply = {
        amount: 120,
        funding: from(100, 20),
        accrued: 80,
        expires_at_ms: redis.now_ms + 10_000,
      };
      await changesNothing(() => ledger.extend("h1", 10_000, amount, accrued), {
        kind: "extended",
        ...reply,
      });
    }
  });

  test("the same extension again changes nothing more: the amount is the whole of what is held, not a step", async () => {
    await held();
    const grow = () => ledger.extend("h1", 10_000, 300, 90);
    const first = await grow();
    expect(first).toMatchObject({ kind: "extended", amount: 300, funding: from(100, 200) });
    await changesNothing(grow, first);
  });

  test("an overdue hold that nobody has ended yet goes on", async () => {
    await held();
    await redis.later(60_000);
    const expires_at_ms = redis.now_ms + 10_000;
    expect(await ledger.extend("h1", 10_000)).toMatchObject({ kind: "extended", expires_at_ms });
    await changesNothing(() => ledger.expire("h1"), { kind: "not_due", expires_at_ms });
  });

  test("growth is not one more call: a full sub-account's streams may grow", async () => {
    await held(1000, { max_concurrent: 1 });
    expect(await ledger.extend("h1", 10_000, 200)).toMatchObject({ kind: "extended", amount: 200 });
    expect(await purse("alice")).toMatchObject({ in_flight: 1 });
  });
});

describe("a growth that is refused writes nothing: neither the new term nor what has accrued", () => {
  test.each([
    ["the account is empty", 20, {}, "account", 120],
    ["its cap on borrowing", 1000, { borrow_cap: 30 }, "sub_account", 130],
    ["its cap of 0", 1000, { borrow_cap: 0 }, "sub_account", 100],
  ] as const)("exhausted: %s", async (_, account, terms, scope, most) => {
    await held(account, terms);
    await refuses(() => ledger.extend("h1", 60_000, most + 1, 90), {
      ...{ kind: "exhausted", scope, requested: most - 99, available: most - 100 },
    });
    expect(await ledger.extend("h1", 60_000, most, 90)).toMatchObject({ kind: "extended", amount: most });
  });

  test("frozen: it grows no more, and what it holds it keeps and may use to its end", async () => {
    await held();
    const grow = () => ledger.extend("h1", 60_000, 101, 90);
    await ledger.put({ status: "frozen" }, '{"status":"active"}', "status");
    await refuses(grow, { kind: "frozen", what: "tenant" });
    await ledger.put({ status: "active" }, '{"status":"frozen"}', "status");
    await ledger.putSub("alice", { status: "frozen" }, '{"status":"active"}', "status");
    await refuses(grow, { kind: "frozen", what: "sub_account" });
    expect(await ledger.extend("h1", 60_000, 100, 90)).toMatchObject({
      kind: "extended",
      amount: 100,
      accrued: 90,
    });
  });
});

describe("closed, not_found and absent change nothing", () => {
  test.each([
    ["settled", () => ledger.settle("h1", 30), 30],
    ["voided", () => ledger.void("h1"), 0],
    ["expired", () => redis.later(10_000).then(() => ledger.expire("h1")), 0],
  ] as const)("closed: %s", async (kind, end, charged) => {
    await held();
    await end();
    const closed = { kind: "closed", state: kind, charged } as const;
    await changesNothing(() => ledger.extend("h1", 60_000, 500, 50), closed);
    expect(await due("h1")).toBeNull();
  });

  test("not_found and absent", async () => {
    await changesNothing(() => ledger.extend("h1", 1_000), { kind: "absent" });
    await held();
    await changesNothing(() => ledger.extend("h2", 1_000), { kind: "not_found" });
  });
});

checkAfterEach(redis);
