// Calls over HTTP, a hold and a lease in one: a gateway of one's own that is charged twice or keeps a unit, if these failed.
import { beforeEach, describe, expect, test } from "vitest";
import { useBooks } from "../support/books.ts";
import { ledgerVerbsOf } from "../support/ledger-http.ts";
import { keys } from "../support/redis.ts";
import { type Answer, inFlight, type More, many, units, useWorker, verbsOf } from "../support/worker.ts";

const worker = useWorker();
const { add, allocate } = verbsOf(worker);
const { open, balances, hold } = ledgerVerbsOf(worker);
const { admin, internal, redis } = worker;
useBooks(redis);

const admit = (call_id: string, amount: number, more: More = {}) =>
  internal("/calls/admit", {
    ...{ call_id, amount, provider: "openai", model: "gpt-4o", tenant: "acme", sub_account: "alice" },
    ...more,
  });
const on = { tenant: "acme", provider: "openai", pool: "default", key_id: "key_01" };
const renew = (call_id: string, more: More = {}) =>
  internal(`/calls/${call_id}/renew`, { ...on, lease_seconds: 60, ...more });
const finish = (call_id: string, more: More = {}) => internal(`/calls/${call_id}/finish`, { ...on, ...more });
const codeOf = ({ status, body }: Answer) => [status, body.code];

beforeEach(async () => {
  await open(100, { max_concurrent: 2 });
  await add("key_01", 2);
});

test("admitted, renewed, finished: one charge, one unit, and the operator sees who has it", async () => {
  const { status, headers, body } = await admit("k1", 60, { holder: "worker-7", metadata: { n: 1 } });
  expect([status, headers.get("cache-control")]).toEqual([200, "no-store"]);
  expect(body).toMatchObject({
    call_id: "k1",
    lease: { key_id: "key_01", credential: { api_key: "sk-key_01" }, provider_model: "gpt-4o-2024-11-20" },
    hold: { state: "open", amount: 60, funding: [{ source: "account", amount: 60 }], replayed: false },
  });
  const leases = await admin("GET", "/credentials/openai/default/key_01/leases");
  expect(leases.body.leases).toMatchObject([{ lease_id: "acme~k1", holder: "worker-7", overdue: false }]);
  expect((await hold("k1")).body).toMatchObject({ key_id: "key_01", pool: "default", metadata: { n: 1 } });
  expect((await renew("k1", { accrued: 5, amount: 80 })).body).toMatchObject({ amount: 80, accrued: 5 });
  const end = { amount: 45, usage: { output_tokens: 9 }, outcome: { kind: "success" } };
  const first = await finish("k1", end);
  expect(first.body).toEqual({
    ...{ call_id: "k1", state: "settled", charged: 45, debt: 0, released: true, replayed: false },
    returned: [{ source: "account", amount: 35 }],
  });
  expect((await finish("k1", end)).body).toEqual({ ...first.body, replayed: true });
  expect(codeOf(await finish("k1", { amount: 46 }))).toEqual([409, "hold_closed"]);
  expect((await balances()).body.account).toMatchObject({ available: 55, spent: 45, held: 0 });
  expect(await inFlight(redis)).toEqual(units(0));
});

test("without an amount the hold is void", async () => {
  await admit("k1", 60);
  expect((await finish("k1")).body).toMatchObject({ state: "voided", charged: 0 });
  expect((await balances()).body.account).toMatchObject({ available: 100, spent: 0 });
});

test("a repeat is the same call; other arguments are a conflict; after the end the end is told", async () => {
  const first = await admit("k1", 60);
  const again = await admit("k1", 60);
  expect(again.body.lease.fence).toBe(first.body.lease.fence);
  expect(again.body.hold.replayed).toBe(true);
  expect(codeOf(await admit("k1", 61))).toEqual([409, "idempotency_conflict"]);
  await finish("k1", { amount: 1 });
  expect(codeOf(await admit("k1", 60))).toEqual([409, "hold_closed"]);
});

describe("refused: nothing is held and no unit is taken", () => {
  test.each([
    ["funds", { amount: 101 }, 402, "quota_exhausted"],
    ["the model", { model: "nobody" }, 404, "not_found"],
    ["the provider", { provider: "nobody" }, 404, "not_found"],
    ["the tenant", { tenant: "nobody" }, 404, "not_found"],
    ["the sub-account", { sub_account: "nobody" }, 404, "not_found"],
    ["an amount", { amount: -1 }, 400, "invalid_request"],
    ["metadata", { metadata: "x".repeat(2_048) }, 400, "invalid_request"],
    ["a field", { op_id: "op" }, 400, "invalid_request"],
  ])("for %s", async (_, more, status, code) => {
    expect(codeOf(await admit("k1", 1, more))).toEqual([status, code]);
    expect(await inFlight(redis)).toEqual(units(0));
    expect((await balances()).body.account.held).toBe(0);
  });

  test("for capacity, concurrency, a frozen tenant and an open breaker", async () => {
    await allocate();
    await allocate();
    expect(codeOf(await admit("k1", 1))).toEqual([429, "no_capacity"]);
    await add("key_02", 9);
    await admit("k2", 1);
    await admit("k3", 1);
    expect(codeOf(await admit("k4", 1))).toEqual([429, "concurrency_limited"]);
    await admin("PATCH", "/tenants/acme", { status: "frozen" });
    expect(codeOf(await admit("k5", 1))).toEqual([403, "forbidden"]);
    await admin("PATCH", "/tenants/acme", { status: "active" });
    await admin("PATCH", "/pools/openai/default", { breaker: { mode: "open" } });
    await admin("PATCH", "/tenants/acme/sub-accounts/alice", { max_concurrent: 9 });
    expect(codeOf(await admit("k6", 1))).toEqual([503, "breaker_open"]);
  });
});

test("a pool without capacity falls back, and the call is where it was granted", async () => {
  await add("vip_01", 1, { pool: "vip" });
  const [one, other] = [await admit("k1", 1, { pool: "vip" }), await admit("k2", 1, { pool: "vip" })];
  expect([one.body.lease.pool, other.body.lease.pool, other.body.lease.fallback]).toEqual([
    "vip",
    "default",
    true,
  ]);
  expect((await admit("k2", 1, { pool: "vip" })).body.lease.fence).toBe(other.body.lease.fence);
  expect(codeOf(await finish("k2", { pool: "vip", key_id: "vip_01", amount: 1 }))).toEqual([
    409,
    "lease_lost",
  ]);
  expect((await finish("k2", { amount: 1 })).status).toBe(200);
});

test("a lost lease is said, and the call can still be charged", async () => {
  await admit("k1", 60);
  await admin("DELETE", "/credentials/openai/default/key_01/leases");
  expect((await renew("k1")).body).toMatchObject({ code: "lease_lost", reason: "revoked" });
  expect((await finish("k1", { amount: 5 })).body).toMatchObject({ charged: 5, released: false });
  expect(codeOf(await renew("nobody"))).toEqual([404, "not_found"]);
});

test("a secret that does not open benches its credential, and the next one has the call", async () => {
  await add("key_02", 2);
  const { secrets_key } = keys.pool("openai", "default");
  const [fingerprint] = ((await redis.raw.hget(secrets_key, "key_01")) ?? "").split(" ");
  await redis.raw.hset(secrets_key, "key_01", `${fingerprint} k9.bm9uc2Vuc2U`);
  const [one, other] = [await admit("k1", 1), await admit("k2", 1)];
  expect([one.body.lease.key_id, other.body.lease.key_id]).toEqual(["key_02", "key_02"]);
  expect((await admin("GET", "/credentials/openai/default/key_01")).body.status).toBe("auth_failed");
});

test("case A2: forty callers at a capacity of 2: two are admitted, whatever each repeats", async () => {
  await admin("PATCH", "/tenants/acme/sub-accounts/alice", { max_concurrent: null });
  const answers = await many(40, (i) => admit(`p${i % 20}`, 1));
  expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(4);
  expect(await inFlight(redis)).toEqual(units(2));
  expect((await balances()).body.account.held).toBe(2);
});
