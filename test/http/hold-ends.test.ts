// What becomes of a hold: an amount charged twice, lost, or kept for ever, if these failed.
import { describe, expect, test } from "vitest";
import { dump, useBooks } from "../support/books.ts";
import { invalid, refusedFields } from "../support/invalid.ts";
import { ledgerVerbsOf } from "../support/ledger-http.ts";
import { PATIENT } from "../support/ledger-routes.ts";
import { many, useWorker } from "../support/worker.ts";

const worker = useWorker(PATIENT);
const { redis } = worker;
const { adjust, open, reserve, end, hold, balances } = ledgerVerbsOf(worker);
useBooks(redis);

const settle = (hold_id: string, amount: number, more: object = {}) =>
  end(hold_id, "settle", { amount, ...more });
const account = async () => (await balances()).body.account;
const ALICE = { sub_account: "alice" };

describe("settle", () => {
  test("charges what was used, and what was drawn last goes back first", async () => {
    await open(1000);
    await adjust(ALICE, "grant", 300);
    for (const id of ["h1", "h2"]) await reserve(id, 500);
    const { status, body } = await settle("h1", 200);
    expect([status, body]).toEqual([
      200,
      {
        hold_id: "h1",
        state: "settled",
        charged: 200,
        returned: [
          { source: "sub_account", amount: 100 },
          { source: "account", amount: 200 },
        ],
        debt: 0,
        replayed: false,
      },
    ]);
    expect((await settle("h2", 500)).body).toMatchObject({ charged: 500, returned: [] });
    expect(await account()).toEqual({ available: 500, held: 0, spent: 500, lapsed: 0 });
  });

  test("of nothing gives all back; of more than was held draws it, beyond the cap, then owes", async () => {
    await open(100, { borrow_cap: 60 });
    for (const id of ["h1", "h2"]) await reserve(id, 30);
    expect((await settle("h1", 0)).body).toMatchObject({ charged: 0, returned: [{ amount: 30 }] });
    expect((await settle("h2", 130)).body).toMatchObject({ charged: 130, returned: [], debt: 30 });
    expect(await account()).toMatchObject({ available: 0, held: 0, spent: 100 });
    expect((await balances()).body.sub_accounts[0]).toMatchObject({ spent: 30, debt: 30 });
  });

  test("case C22: a repeat is the first answer, another amount is the end that was, also of 10 at once", async () => {
    await open(1000);
    await reserve("h1", 1000);
    const answers = await many(10, () => settle("h1", 700));
    expect(answers.filter(({ body }) => body.replayed).length).toBe(9);
    const first = answers.find(({ body }) => !body.replayed)?.body;
    for (const { status, body } of answers)
      expect([status, { ...body, replayed: false }]).toEqual([200, first]);
    const before = await dump(redis);
    for (const [amount, more] of [
      [900, {}],
      [0, {}],
      [700, { usage: { input_tokens: 3 } }],
    ] as const) {
      const { status, body } = await settle("h1", amount, more);
      const says = { code: "hold_closed", reason: "settled", state: "settled", charged: 700 };
      expect([status, body]).toMatchObject([409, says]);
    }
    expect(await dump(redis)).toEqual(before);
    expect(await account()).toMatchObject({ available: 300, spent: 700 });
  });

  test("case C22: with a void at the same moment, 30 times: one end, and the other is told which", async () => {
    await open(100_000);
    const rounds = await many(30, async (i) => {
      await reserve(`h${i}`, 1000);
      const pair = i % 2 ? [() => settle(`h${i}`, 700), () => end(`h${i}`, "void")] : [];
      const asks = pair.length ? pair : [() => end(`h${i}`, "void"), () => settle(`h${i}`, 700)];
      const answers = await Promise.all(asks.map((ask) => ask()));
      const won = answers.find(({ status }) => status === 200)?.body;
      const lost = answers.find(({ status }) => status === 409)?.body;
      expect([lost.state, lost.charged]).toEqual([won.state, won.charged ?? 0]);
      return (won.charged ?? 0) as number;
    });
    const spent = rounds.reduce((sum, charged) => sum + charged, 0);
    expect(await account()).toMatchObject({ available: 100_000 - spent, held: 0, spent });
  });

  test("of items names them all in their order, and adds up", async () => {
    await open(1000);
    const items = [
      { model: "large", amount: 60 },
      { model: "small", amount: 30 },
    ];
    await reserve("h1", undefined, { items });
    const before = await dump(redis);
    for (const used of [items.toReversed(), items.slice(0, 1), [items[0], { model: "x", amount: 30 }]]) {
      const amount = used.reduce((sum, item) => sum + (item?.amount ?? 0), 0);
      expect(refusedFields(await settle("h1", amount, { items: used }))).toEqual(invalid("items"));
    }
    expect((await settle("h1", 91, { items })).body.errors).toEqual([
      { field: "items", message: "their amounts must add up to amount" },
    ]);
    expect(await dump(redis)).toEqual(before);
    const used = [
      { model: "large", amount: 10 },
      { model: " small ", amount: 0 },
    ];
    expect((await settle("h1", 10, { items: used })).body).toMatchObject({ charged: 10 });
    expect((await settle("h1", 10, { items: used })).body.replayed).toBe(true);
  });

  test("of more than stays an exact integer is refused and charges nothing", async () => {
    await open(1000);
    for (const id of ["h1", "h2"]) await reserve(id, 10);
    expect((await settle("h1", Number.MAX_SAFE_INTEGER)).body).toMatchObject({ charged: 9007199254740991 });
    const before = await dump(redis);
    expect(refusedFields(await settle("h2", Number.MAX_SAFE_INTEGER))).toEqual(invalid("amount"));
    expect(await dump(redis)).toEqual(before);
    expect((await end("h2", "void")).status).toBe(200);
  });
});

describe("void", () => {
  test("gives all back; a repeat is the first answer, and a settle then is too late", async () => {
    await open(1000);
    await reserve("h1", 400);
    const says = { hold_id: "h1", state: "voided", returned: [{ source: "account", amount: 400 }] };
    expect((await end("h1", "void", { reason: "upstream refused" })).body).toEqual({
      ...says,
      replayed: false,
    });
    expect((await end("h1", "void")).body).toEqual({ ...says, replayed: true });
    expect((await settle("h1", 1)).body).toMatchObject({ code: "hold_closed", state: "voided", charged: 0 });
    expect(await account()).toEqual({ available: 1000, held: 0, spent: 0, lapsed: 0 });
  });

  test("after a settle is too late", async () => {
    await open(1000);
    await reserve("h1", 400);
    await settle("h1", 5);
    const { status, body } = await end("h1", "void");
    expect([status, body]).toMatchObject([409, { code: "hold_closed", state: "settled", charged: 5 }]);
  });
});

describe("extend", () => {
  const extend = (more: object = {}) => end("h1", "extend", { ttl_seconds: 60, ...more });
  const at = (ms: number) => new Date(redis.now_ms + ms).toISOString();

  test("gives more time, never less; lets it grow, never shrink; notes what is used so far", async () => {
    await open(1000);
    await reserve("h1", 100, { ttl_seconds: 90 });
    const says = { hold_id: "h1", state: "open", amount: 100, accrued: 0, expires_at: at(90_000) };
    const funding = (amount: number) => [{ source: "account", amount }];
    expect((await extend()).body).toEqual({ ...says, funding: funding(100) });
    const grown = await extend({ ttl_seconds: 600, amount: 250, accrued: 40 });
    const now = { ...says, amount: 250, accrued: 40, expires_at: at(600_000), funding: funding(250) };
    expect([grown.status, grown.body]).toEqual([200, now]);
    expect((await extend({ amount: 100, accrued: 30 })).body).toEqual(now);
    expect((await extend({ ttl_seconds: 600, amount: 250, accrued: 40 })).body).toEqual(now); // a repeat
    expect((await settle("h1", 240)).body).toMatchObject({ charged: 240, returned: [{ amount: 10 }] });
  });

  test("that is refused for want of funds leaves the hold as it was", async () => {
    await open(100, { borrow_cap: 50 });
    await reserve("h1", 40);
    const before = (await hold("h1")).body;
    const { status, body } = await extend({ ttl_seconds: 600, amount: 51, accrued: 9 });
    expect([status, body]).toMatchObject([402, { scope: "sub_account", requested: 11, available: 10 }]);
    expect((await hold("h1")).body).toEqual(before);
    expect((await extend({ amount: 50 })).body.amount).toBe(50);
  });

  test("of one that has ended says how", async () => {
    await open(1000);
    await reserve("h1", 100);
    await settle("h1", 7);
    const { status, body } = await extend();
    expect([status, body]).toMatchObject([409, { code: "hold_closed", state: "settled", charged: 7 }]);
  });
});
