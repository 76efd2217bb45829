// Adjustments by an operator: money put in twice, taken out below zero, or losing digits, if these failed.
import { describe, expect, test } from "vitest";
import { dump, useBooks } from "../support/books.ts";
import { BAD_IDS, invalid, refusedFields } from "../support/invalid.ts";
import { entriesOf } from "../support/ledger.ts";
import { ledgerVerbsOf } from "../support/ledger-http.ts";
import { PATIENT } from "../support/ledger-routes.ts";
import { keys } from "../support/redis.ts";
import { many, useWorker } from "../support/worker.ts";

const worker = useWorker(PATIENT);
const { redis, admin } = worker;
const { adjust, open, reserve, end, balances } = ledgerVerbsOf(worker);
useBooks(redis);

const ADJUST = "/tenants/acme/adjust";
const ALICE = { sub_account: "alice" };
const MOST = Number.MAX_SAFE_INTEGER;
const grant = { purse: "account", kind: "grant", amount: 100, reason: "top-up" };
const keyed = (key: string) => ({ "idempotency-key": key });

describe.each(["account", ALICE])("of %j", (purse) => {
  test("grant, deduct, set and zero say what came in and what there is", async () => {
    await open(0);
    const rows = [
      ["grant", 100, 100, 100],
      ["deduct", 30, -30, 70],
      ["set", 500, 430, 500],
      ["set", 500, 0, 500],
      ["set", 20, -480, 20],
      ["deduct", 20, -20, 0],
      ["set", 9, 9, 9],
      ["zero", undefined, -9, 0],
      ["zero", undefined, 0, 0],
    ] as const;
    for (const [i, [kind, amount, change, available]] of rows.entries()) {
      const { status, body } = await adjust(purse, kind, amount, `op-${i}`);
      const says = {
        op_id: `op-${i}`,
        tenant: "acme",
        purse,
        kind,
        change,
        available,
        debt: 0,
        replayed: false,
      };
      expect([status, body]).toEqual([200, says]);
    }
  });

  test("a deduct below zero is refused and says what there is; what is held is not there", async () => {
    await open(0);
    await adjust(purse, "grant", 100);
    await reserve("h1", 60);
    const before = await dump(redis);
    const { status, body } = await adjust(purse, "deduct", 41);
    const scope = purse === "account" ? "account" : "sub_account";
    expect([status, body.code, body.scope, body.requested, body.available]).toEqual([
      402,
      "quota_exhausted",
      scope,
      41,
      40,
    ]);
    expect(await dump(redis)).toEqual(before);
    expect((await adjust(purse, "deduct", 40)).body.available).toBe(0);
    expect((await adjust(purse, "zero")).body).toMatchObject({ change: 0, available: 0 });
    expect((await end("h1", "void")).status).toBe(200); // held stayed held
    expect((await adjust(purse, "deduct", 60)).body.available).toBe(0);
  });

  test("all digits are there up to 2^53-1, and the one above is refused before it is written", async () => {
    await open(0);
    expect((await adjust(purse, "grant", MOST - 1)).body.available).toBe(MOST - 1);
    expect((await adjust(purse, "grant", 1)).body.available).toBe(MOST);
    const before = await dump(redis);
    expect(refusedFields(await adjust(purse, "grant", 1))).toEqual(invalid("amount"));
    expect(await dump(redis)).toEqual(before);
    expect((await reserve("h1", MOST)).body.amount).toBe(MOST);
    expect((await end("h1", "settle", { amount: 1 })).body.charged).toBe(1);
    expect(refusedFields(await adjust(purse, "set", MOST))).toEqual(invalid("amount")); // 1 is spent
    expect((await adjust(purse, "set", MOST - 1)).body).toMatchObject({ change: 0, available: MOST - 1 });
    expect(JSON.stringify(await dump(redis))).not.toMatch(/\de\+\d/);
  });
});

test("case D35: 99,999,999,999,999 and 1 are 100,000,000,000,000, in every reply and in the journal", async () => {
  await open(99_999_999_999_999);
  expect((await adjust("account", "grant", 1)).body.available).toBe(100_000_000_000_000);
  await reserve("h1", 1);
  expect((await end("h1", "settle", { amount: 1 })).body.charged).toBe(1);
  expect((await balances()).body.account).toEqual({
    available: 99_999_999_999_999,
    held: 0,
    spent: 1,
    lapsed: 0,
  });
  const entries = entriesOf(await redis.raw.xrange(keys.tenant("acme").journal_key, "-", "+"));
  expect(entries.find(({ kind }) => kind === "adjust")?.amount).toBe("99999999999999");
});

test("what comes in pays the debt first; a set is what there is afterwards", async () => {
  await open(0);
  await adjust(ALICE, "grant", 10);
  await reserve("h1", 10);
  expect((await end("h1", "settle", { amount: 70 })).body.debt).toBe(60);
  expect((await adjust(ALICE, "grant", 20)).body).toMatchObject({ change: 20, available: 0, debt: 40 });
  expect((await adjust(ALICE, "deduct", 1)).status).toBe(402);
  expect((await adjust(ALICE, "set", 5)).body).toMatchObject({ change: 45, available: 5, debt: 0 });
});

test("what is not a purse, a kind, a reason or a reference is refused, with the field named", async () => {
  await open(100);
  const before = await dump(redis);
  const bad = (field: string, values: unknown[]) =>
    values.map((value): [string, object] => [field, { ...grant, [field]: value }]);
  const rows = [
    ...bad("purse", ["", "alice", null, 1, {}, { sub_account: "a b" }, { account: true }, ["account"]]),
    ...bad("kind", ["", "refund", null, 1]),
    ...bad("reason", ["", "  ", "x".repeat(257), "a\nb", null, 1]),
    ...bad("ref", BAD_IDS),
  ];
  await many(rows.length, async (i) => {
    const [field, body] = rows[i] ?? ["", {}];
    const { status, fields } = refusedFields(await admin("POST", ADJUST, body, keyed("op-9")));
    expect([body, status, fields.every((name) => name.startsWith(field)), fields.length > 0]).toEqual([
      body,
      400,
      true,
      true,
    ]);
  });
  const { reason: _, ...without } = grant;
  expect(refusedFields(await admin("POST", ADJUST, without, keyed("op-9")))).toEqual(invalid("reason"));
  const zero = { ...grant, kind: "zero" };
  expect(refusedFields(await admin("POST", ADJUST, zero, keyed("op-9")))).toEqual(invalid("amount"));
  expect(await dump(redis)).toEqual(before);
});
