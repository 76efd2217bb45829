// A hold as it is read, and refunds of it: a charge that nobody can explain, or that is given back twice, if these failed.
import { describe, expect, test } from "vitest";
import { dump, useBooks } from "../support/books.ts";
import { BAD_IDS, invalid, refusedFields } from "../support/invalid.ts";
import { ledgerVerbsOf } from "../support/ledger-http.ts";
import { PATIENT } from "../support/ledger-routes.ts";
import { many, useWorker } from "../support/worker.ts";

const worker = useWorker(PATIENT);
const { redis, internal } = worker;
const { adjust, open, reserve, end, refund, hold, balances, sub, tenant } = ledgerVerbsOf(worker);
useBooks(redis);

const at = (ms = 0) => new Date(redis.now_ms + ms).toISOString();
const sources = (sub_account: number, account: number) =>
  [
    { source: "sub_account", amount: sub_account },
    { source: "account", amount: account },
  ].filter(({ amount }) => amount > 0);

describe("GET of a hold", () => {
  test("shows an open one, and as it ends: settled, voided, refunded", async () => {
    await open(1000);
    await adjust({ sub_account: "alice" }, "grant", 60);
    await reserve("h1", 100, { model: "m", tokens: 9, requests: 2 });
    const shown = {
      hold_id: "h1",
      tenant: "acme",
      sub_account: "alice",
      state: "open",
      amount: 100,
      items: [{ model: "m", amount: 100, tokens: 9, requests: 2 }],
      funding: sources(60, 40),
      accrued: 0,
      charged: 0,
      confirmed: false,
      refunded: 0,
      returned: [],
      debt: 0,
      provider: null,
      pool: null,
      opened_at: at(),
      expires_at: at(120_000),
      metadata: null,
    };
    expect((await hold("h1")).body).toMatchObject(shown);
    await end("h1", "extend", { ttl_seconds: 300, amount: 150, accrued: 20 });
    const grown = { ...shown, amount: 150, accrued: 20, funding: sources(60, 90), expires_at: at(300_000) };
    expect((await hold("h1")).body).toMatchObject(grown);
    await end("h1", "settle", { amount: 70 });
    const settled = { ...grown, state: "settled", charged: 70, confirmed: true, returned: sources(0, 80) };
    expect((await hold("h1")).body).toMatchObject(settled);
    await refund("h1", "r1", 15);
    expect((await hold("h1")).body).toMatchObject({ ...settled, refunded: 15 });
    await reserve("h2", 10);
    await end("h2", "void");
    expect((await hold("h2")).body).toMatchObject({ state: "voided", charged: 0, confirmed: true });
  });

  test("is there for HOLD_KEEP_MINUTES after its end, open it stays for ever", async () => {
    await open(1000);
    for (const id of ["h1", "h2"]) await reserve(id, 10, { ttl_seconds: 3600 });
    await end("h1", "settle", { amount: 1 });
    await redis.later(59 * 60_000);
    expect((await hold("h1")).body.state).toBe("settled");
    await redis.later(2 * 60_000);
    expect((await hold("h1")).body.code).toBe("not_found");
    await redis.later(24 * 3_600_000);
    expect((await hold("h2")).body.state).toBe("open");
    expect((await end("h2", "settle", { amount: 1 })).body.charged).toBe(1); // nobody has swept
  });
});

describe("a refund", () => {
  test("goes back to the purses that paid, the last drawn first, and says what is left to refund", async () => {
    await open(1000);
    await adjust({ sub_account: "alice" }, "grant", 60);
    await reserve("h1", 100);
    await end("h1", "settle", { amount: 100 });
    const says = { op_id: "r1", hold_id: "h1", amount: 30, returned: sources(0, 30), refundable: 70 };
    const first = await refund("h1", "r1", 30, { reason: "a bad answer" });
    expect([first.status, first.body]).toEqual([200, { ...says, replayed: false }]);
    expect((await refund("h1", "r2", 20)).body).toMatchObject({ returned: sources(10, 10), refundable: 50 });
    expect((await refund("h1", "r1", 30)).body).toEqual({ ...says, replayed: true });
    expect((await refund("h1", "r3", 50)).body).toMatchObject({ returned: sources(50, 0), refundable: 0 });
    expect((await refund("h1", "r4", 1)).body.detail).toBe("amount: only 0 can still be refunded");
    expect((await balances()).body).toMatchObject({
      account: { available: 1000, spent: 0 },
      sub_accounts: [{ available: 60, spent: 0 }],
    });
  });

  test("of ten at once by one op_id is one; with another amount it is a conflict", async () => {
    await open(1000);
    await reserve("h1", 100);
    await end("h1", "settle", { amount: 100 });
    const answers = await many(10, () => refund("h1", "r1", 30));
    expect(answers.filter(({ body }) => !body.replayed).length).toBe(1);
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.refundable}`))).toEqual(
      new Set(["200 70"]),
    );
    const other = await refund("h1", "r1", 31);
    expect([other.status, other.body.code]).toEqual([409, "idempotency_conflict"]);
    const parts = await many(10, (i) => refund("h1", `p${i}`, 20)); // 3 of 20 fit into 70
    expect(parts.filter(({ status }) => status === 200).length).toBe(3);
    expect((await balances()).body.account).toMatchObject({ available: 990, spent: 10 });
  });

  test("pays a debt first, and is of a settled hold only", async () => {
    await open(0);
    await adjust({ sub_account: "alice" }, "grant", 10);
    for (const id of ["h0", "h1"]) await reserve(id, 5);
    expect((await refund("h0", "r1", 1)).body.detail).toContain("the hold is open");
    await end("h0", "void");
    const { status, body } = await refund("h0", "r1", 1);
    expect([status, body.code]).toEqual([409, "policy_conflict"]);
    expect((await end("h1", "settle", { amount: 40 })).body.debt).toBe(30);
    expect((await refund("h1", "r1", 35)).body).toMatchObject({ returned: sources(35, 0), refundable: 5 });
    expect((await balances()).body.sub_accounts[0]).toMatchObject({ available: 5, spent: 5, debt: 0 });
  });

  test("of what was owed takes the debt away first, so that the sub-account goes on", async () => {
    await open(100);
    await reserve("h1", 100);
    expect((await end("h1", "settle", { amount: 160 })).body.debt).toBe(60);
    expect((await reserve("h2", 0)).body.scope).toBe("debt");
    expect((await refund("h1", "r1", 61)).body).toMatchObject({ returned: sources(60, 1), refundable: 99 });
    expect((await balances()).body).toMatchObject({ account: { available: 1 }, sub_accounts: [{ debt: 0 }] });
    expect((await reserve("h2", 1)).status).toBe(201);
  });

  test("of one hold there are a hundred at most", async () => {
    await open(1000);
    await reserve("h1", 200);
    await end("h1", "settle", { amount: 200 });
    await many(100, (i) => refund("h1", `r${i}`, 1));
    const { status, body } = await refund("h1", "r100", 1);
    expect([status, body.code, body.detail]).toEqual([
      409,
      "policy_conflict",
      "hold_id: it has 100 refunds: use an adjust with ref",
    ]);
    expect((await refund("h1", "r99", 1)).body.replayed).toBe(true);
  });

  test("with a bad id or reason is refused, with the field named", async () => {
    await open(1000);
    const good = { op_id: "r1", tenant: "acme", hold_id: "h1", amount: 1 };
    const before = await dump(redis);
    for (const field of ["op_id", "tenant", "hold_id"] as const) {
      const answers = await Promise.all(
        BAD_IDS.map((bad) => internal("/refunds", { ...good, [field]: bad })),
      );
      for (const answer of answers) expect(refusedFields(answer)).toEqual(invalid(field));
    }
    for (const reason of ["", "a\nb", "x".repeat(257), null, 7])
      expect(refusedFields(await internal("/refunds", { ...good, reason }))).toEqual(invalid("reason"));
    expect(await dump(redis)).toEqual(before);
  });
});

test("balances are those of the account and of each sub-account, a page at a time", async () => {
  await open(1000);
  for (const name of ["bob", "carol"]) await sub(name);
  await tenant("other");
  await adjust({ sub_account: "bob" }, "grant", 5);
  await reserve("h1", 100);
  await reserve("b1", 5, { sub_account: "bob" });
  await end("b1", "settle", { amount: 1009 });
  const none = { available: 0, held: 0, spent: 0, lapsed: 0 };
  const account = { available: 0, held: 100, spent: 900, lapsed: 0 };
  const alice = { ...none, sub_account: "alice", debt: 0 };
  const first = { account, sub_accounts: [alice], next_cursor: "alice" };
  expect((await balances("acme", "?limit=1")).body).toEqual(first);
  const bob = { ...none, sub_account: "bob", spent: 109, debt: 104 };
  const carol = { ...alice, sub_account: "carol" };
  const rest = { account, sub_accounts: [bob, carol], next_cursor: null };
  expect((await balances("acme", "?cursor=alice")).body).toEqual(rest);
  expect((await balances("other")).body).toEqual({ account: none, sub_accounts: [], next_cursor: null });
});
