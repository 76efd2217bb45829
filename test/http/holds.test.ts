// Holds as a caller opens and reads them: an amount held twice, from the wrong purse, or seen by a stranger, if these failed.
import { describe, expect, test } from "vitest";
import { dump, useBooks } from "../support/books.ts";
import { ledgerVerbsOf } from "../support/ledger-http.ts";
import { PATIENT } from "../support/ledger-routes.ts";
import { many, useWorker } from "../support/worker.ts";

const worker = useWorker(PATIENT);
const { redis } = worker;
const { sub, adjust, open, reserve, end, hold, balances } = ledgerVerbsOf(worker);
useBooks(redis);

const at = (ms: number) => new Date(redis.now_ms + ms).toISOString();

describe("a reserve", () => {
  test("is a 201 and says what is held, from where, and until when; the same again is a 200 with the same", async () => {
    await open(1000);
    const first = await reserve("h1", 400);
    const says = {
      hold_id: "h1",
      state: "open",
      amount: 400,
      funding: [{ source: "account", amount: 400 }],
      available: { sub_account: 0, account: 600 },
      expires_at: at(120_000),
    };
    expect([first.status, first.body]).toEqual([201, { ...says, replayed: false }]);
    const again = await reserve("h1", 400);
    expect([again.status, again.body]).toEqual([200, { ...says, replayed: true }]);
    await redis.later(60_000);
    expect((await reserve("h1", 400)).body.expires_at).toBe(says.expires_at); // a repeat is no extension
  });

  test("takes what the sub-account has, then the account; what is there afterwards is said", async () => {
    await open(1000);
    await adjust({ sub_account: "alice" }, "grant", 600);
    const { body } = await reserve("h1", 1000);
    expect(body.funding).toEqual([
      { source: "sub_account", amount: 600 },
      { source: "account", amount: 400 },
    ]);
    expect(body.available).toEqual({ sub_account: 0, account: 600 });
    expect((await balances()).body).toMatchObject({
      account: { available: 600, held: 400 },
      sub_accounts: [{ available: 0, held: 600 }],
    });
  });

  test("of nothing holds nothing and is a hold all the same", async () => {
    await open(0);
    expect((await reserve("h1", 0)).body).toMatchObject({ amount: 0, funding: [], state: "open" });
    expect((await end("h1", "settle", { amount: 0 })).body).toMatchObject({ charged: 0, returned: [] });
  });

  test("with other arguments is a conflict, and nothing happens", async () => {
    await open(1000);
    await sub("bob");
    await reserve("h1", 100, { model: "m", metadata: { a: 1 } });
    const before = await dump(redis);
    const others = [
      { amount: 101 },
      { model: "other" },
      { model: undefined },
      { sub_account: "bob" },
      { ttl_seconds: 121 },
      { tokens: 1 },
      { requests: 2 },
      { metadata: { a: 2 } },
      { metadata: null },
    ];
    await many(others.length, async (i) => {
      const other = { model: "m", metadata: { a: 1 }, ...others[i] };
      const { status, body } = await reserve("h1", 100, other);
      expect([other, status, body.code]).toEqual([other, 409, "idempotency_conflict"]);
    });
    expect(await dump(redis)).toEqual(before);
    expect((await reserve("h1", 100, { model: " m ", metadata: { a: 1 }, requests: 1 })).status).toBe(200);
  });

  test("after its end is answered with that end, and reopens nothing", async () => {
    await open(1000);
    for (const id of ["h1", "h2"]) await reserve(id, 100);
    await end("h1", "settle", { amount: 70 });
    await end("h2", "void");
    const ended = { h1: ["settled", 70], h2: ["voided", 0] } as const;
    for (const [id, [state, charged]] of Object.entries(ended)) {
      const { status, body } = await reserve(id, 100);
      expect([status, body]).toMatchObject([409, { code: "hold_closed", reason: state, state, charged }]);
      expect((await reserve(id, 101)).body.code).toBe("idempotency_conflict");
    }
    expect((await balances()).body.account).toMatchObject({ available: 930, held: 0, spent: 70 });
  });

  test("of several models is all or none", async () => {
    await open(1000);
    const items = [
      { model: "large", amount: 600, tokens: 9000 },
      { model: " small ", amount: 300, requests: 2 },
    ];
    const { status, body } = await reserve("h1", undefined, { items });
    expect([status, body.amount]).toEqual([201, 900]);
    expect((await hold("h1")).body.items).toEqual([
      { model: "large", amount: 600, tokens: 9000, requests: 1 },
      { model: "small", amount: 300, tokens: 0, requests: 2 },
    ]);
    const refused = await reserve("h2", undefined, { items: [items[0], { model: "x", amount: 1 }] });
    expect(refused.body).toMatchObject({ code: "quota_exhausted", requested: 601, available: 100 });
    expect((await hold("h2")).status).toBe(404);
  });

  test("lasts as long as it asks for, 1 to 3,600 seconds", async () => {
    await open(1000);
    for (const ttl_seconds of [1, 3600])
      expect((await reserve(`h${ttl_seconds}`, 1, { ttl_seconds })).body.expires_at).toBe(
        at(ttl_seconds * 1000),
      );
  });
});
