// Holds that are refused, and those of others: a caller who would overspend, hold while upstream is ill, or meet a stranger.
import { describe, expect, test } from "vitest";
import { dump, useBooks } from "../support/books.ts";
import { ledgerVerbsOf } from "../support/ledger-http.ts";
import { PATIENT } from "../support/ledger-routes.ts";
import { many, useWorker, verbsOf } from "../support/worker.ts";

const worker = useWorker(PATIENT);
const { redis, internal, call } = worker;
const { add, lease, release } = verbsOf(worker);
const { tenant, sub, adjust, open, reserve, end, hold, balances } = ledgerVerbsOf(worker);
useBooks(redis);

describe("a refusal for want of funds", () => {
  test("says which purse, how much was asked and how much there was, and holds nothing", async () => {
    await open(100, { borrow_cap: 50 });
    await adjust({ sub_account: "alice" }, "grant", 10);
    const capped = await reserve("h1", 61);
    expect([capped.status, capped.body]).toMatchObject([
      402,
      { code: "quota_exhausted", scope: "sub_account", requested: 61, available: 60 },
    ]);
    await worker.admin("PATCH", "/tenants/acme/sub-accounts/alice", { borrow_cap: null });
    expect((await reserve("h1", 111)).body).toMatchObject({
      scope: "account",
      requested: 111,
      available: 110,
    });
    expect((await hold("h1")).body.detail).toBe("hold_id: the tenant has no such hold");
    expect((await reserve("h1", 110)).status).toBe(201); // the id is still free
  });

  test("case C26: a sub-account in debt is refused with that scope, another goes on, a top-up pays first", async () => {
    await open(100);
    await sub("bob");
    await reserve("h1", 60);
    expect((await end("h1", "settle", { amount: 160 })).body).toMatchObject({ charged: 160, debt: 60 });
    expect((await reserve("h2", 1)).body).toMatchObject({ scope: "debt", requested: 1, available: 0 });
    await adjust({ sub_account: "bob" }, "grant", 5);
    expect((await reserve("b1", 5, { sub_account: "bob" })).status).toBe(201);
    expect((await adjust({ sub_account: "alice" }, "grant", 100)).body).toMatchObject({
      available: 40,
      debt: 0,
    });
    expect((await reserve("h2", 40)).status).toBe(201);
  });

  test("case C21: of 20 at once that ask for 30 of 100, exactly 3 hold it", async () => {
    await open(100);
    const answers = await many(20, (i) => reserve(`h${i}`, 30));
    expect(answers.filter(({ status }) => status === 201).length).toBe(3);
    for (const { status, body } of answers.filter(({ status }) => status !== 201))
      expect([status, body.scope, body.available <= 100]).toEqual([402, "account", true]);
    expect((await balances()).body.account).toMatchObject({ available: 10, held: 90 });
  });
});

describe("with a provider and a pool", () => {
  test("an open breaker refuses with a Retry-After, and nothing is reserved or counted", async () => {
    await add("key_01", 9);
    await open(1000);
    expect((await reserve("h0", 1, { provider: "openai" })).status).toBe(201);
    for (let i = 0; i < 5; i++) {
      await release(await lease(), { outcome: { kind: "upstream_error", retry_after: "1" } });
      await redis.later(1000);
    }
    const before = await balances();
    const { status, headers, body } = await reserve("h1", 1, { provider: "openai", pool: "default" });
    expect([status, body.code, body.retry_after_seconds >= 1]).toEqual([503, "breaker_open", true]);
    expect(headers.get("retry-after")).toBe(String(body.retry_after_seconds));
    expect((await balances()).body).toEqual(before.body);
    expect((await hold("h1")).status).toBe(404);
    expect((await reserve("h1", 1)).status).toBe(201); // without a pool nobody asks
    expect((await reserve("h0", 1, { provider: "openai" })).body.replayed).toBe(true); // a repeat is no new one
  });

  test("the hold says which; an unknown pool or provider is a 404, a pool alone is a 400", async () => {
    await add("key_01", 1, { pool: "vip" });
    await open(1000);
    await reserve("h1", 1, { provider: "openai", pool: "vip" });
    expect((await hold("h1")).body).toMatchObject({ provider: "openai", pool: "vip" });
    for (const more of [{ provider: "openai" }, { provider: "nobody", pool: "vip" }]) {
      const { status, body } = await reserve("h2", 1, more);
      expect([status, body.detail]).toEqual([404, "pool: the provider has no such pool"]);
    }
    expect((await reserve("h2", 1, { pool: "vip" })).body.errors).toEqual([
      { field: "provider", message: "is required with a pool" },
    ]);
  });
});

describe("case C25: two tenants", () => {
  test("use one id for their holds, and an op_id is a hold's id: all separate", async () => {
    await open(1000);
    await tenant("other");
    await sub("alice", {}, "other");
    await adjust("account", "grant", 50, "h1", "other"); // the id of a hold
    await reserve("h1", 100);
    const other = { tenant: "other" };
    expect((await reserve("h1", 30, other)).body).toMatchObject({ amount: 30, replayed: false });
    expect((await adjust("account", "grant", 1, "h1")).body.replayed).toBe(false);
    expect((await end("h1", "settle", { amount: 90 })).body.charged).toBe(90);
    expect((await hold("h1", "other")).body).toMatchObject({ tenant: "other", state: "open", amount: 30 });
    const refund = { op_id: "h1", hold_id: "h1", amount: 5 };
    expect((await internal("/refunds", { ...refund, tenant: "acme" })).body.refundable).toBe(85);
    expect((await internal("/refunds", { ...refund, ...other })).body.code).toBe("policy_conflict"); // open
    expect((await end("h1", "void", other)).status).toBe(200);
  });

  test("another's hold is as if it were not there, on every route", async () => {
    await open(1000);
    await tenant("other");
    await sub("alice", {}, "other");
    await reserve("h1", 100);
    const before = await dump(redis);
    const other = { tenant: "other" };
    const answers = [
      await hold("h1", "other"),
      await end("h1", "settle", { amount: 1, ...other }),
      await end("h1", "void", other),
      await end("h1", "extend", { ttl_seconds: 9, ...other }),
      await internal("/refunds", { op_id: "r1", hold_id: "h1", amount: 1, ...other }),
    ];
    const nobody = (await hold("nobody", "other")).body;
    for (const { status, body } of answers)
      expect([status, { ...body, request_id: "" }]).toEqual([404, { ...nobody, request_id: "" }]);
    expect(await dump(redis)).toEqual(before);
    const key = { "x-internal-key": "test-internal-key" };
    expect((await call("GET", "/api/internal/holds/h1", key)).body.errors[0].field).toBe("tenant");
  });
});
