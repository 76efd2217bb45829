// The sweep, as cron fires it: what nobody ended would stay held for ever, or be given back twice, if these failed.
import { beforeEach, describe, expect, test } from "vitest";
import { reserve as reserveScript } from "../../src/scripts/quota/reserve.ts";
import { run } from "../../src/scripts/run.ts";
import { useBooks, violations } from "../support/books.ts";
import { ledgerVerbsOf } from "../support/ledger-http.ts";
import { PATIENT } from "../support/ledger-routes.ts";
import { aWhileAgo, sweep } from "../support/overdue.ts";
import { keys } from "../support/redis.ts";
import { inFlight, METRICS_KEY, many, units, useWorker, verbsOf } from "../support/worker.ts";

const worker = useWorker(PATIENT);
const { redis } = worker;
const { add, lease } = verbsOf(worker);
const { tenant, sub, adjust, open, reserve, end, hold, balances } = ledgerVerbsOf(worker);
useBooks(redis);
beforeEach(() => aWhileAgo(worker));

const NONE = { holds_expired: 0, holds_gone: 0, holds_failed: 0, leases_reclaimed: 0, pools_failed: 0 };
const said = (more: object) => expect.objectContaining({ ...NONE, ...more });
const brief = { ttl_seconds: 1 };
const due = (name: string) => keys.tenant(name).due_key;

/** Several holds in one round trip, for tests that need many. */
const reserveMany = (name: string, n: number) =>
  many(n, (i) => {
    const { tenant_key, due_key } = keys.tenant(name);
    const hold_key = keys.hold(name, `h${i}`);
    const args = {
      tenant: name,
      sub_account: "alice",
      hold_id: `h${i}`,
      fingerprint: "f",
      token: "",
    } as const;
    const items = [{ model: "", amount: 1, tokens: 0, requests: 1 }];
    const more = { ttl_ms: 1_000, home: "-", items, metadata: "" };
    return run(
      redis.store(),
      reserveScript,
      { tenant_key, hold_key, due_key, pool_key: tenant_key },
      { ...args, ...more },
    );
  });

test("ends overdue holds of every tenant and shard, charges what had accrued, takes back leases; a second run does nothing", async () => {
  await add("key_01", 3);
  await lease({ lease_seconds: 1 });
  await lease({ lease_seconds: 600 });
  const names = ["a", "b", "c", "d", "e"];
  expect(new Set(names.map(due)).size).toBeGreaterThan(1);
  await many(names.length, async (i) => {
    const name = names[i] ?? "";
    await tenant(name);
    await sub("alice", {}, name);
    await adjust("account", "grant", 100, "op", name);
    await reserve("old", 60, { tenant: name, ...brief });
    await end("old", "extend", { tenant: name, accrued: 7, ...brief });
    await reserve("h1", 10, { tenant: name, ttl_seconds: 600 });
  });
  await redis.later(1_000);
  expect(await sweep(worker)).toEqual(said({ holds_expired: 5, leases_reclaimed: 1 }));
  for (const name of names) {
    expect((await hold("old", name)).body).toMatchObject({ state: "expired", charged: 7, confirmed: false });
    expect((await hold("h1", name)).body.state).toBe("open");
    expect((await balances(name)).body.account).toEqual({ available: 83, held: 10, spent: 7, lapsed: 0 });
  }
  expect(await inFlight(redis)).toEqual(units(1));
  expect(await violations(redis, { swept: true })).toEqual([]);
  for (const name of names) await end("h1", "void", { tenant: name });
  const before = await redis.raw.dbsize();
  expect(await sweep(worker)).toEqual(said({}));
  expect([await redis.raw.dbsize(), (await balances("a")).body.account.available]).toEqual([before, 93]);
});

test("two runs at the same moment end each hold once", async () => {
  await open(100);
  await many(10, (i) => reserve(`h${i}`, 5, brief));
  await redis.later(1_000);
  const reports = await Promise.all([sweep(worker), sweep(worker)]);
  const lines = worker.logs().map(({ message }) => JSON.parse(message));
  const jobs = lines.filter(({ event, job }) => event === "job" && job === "sweep").slice(-reports.length);
  expect(jobs.reduce((sum, { holds_expired }) => sum + holds_expired, 0)).toBe(10);
  expect((await balances()).body.account).toEqual({ available: 100, held: 0, spent: 0, lapsed: 0 });
});

test("more than one step of a shard: 150 holds of one tenant go in one run", async () => {
  await open(1000);
  await reserveMany("acme", 150);
  await redis.later(1_000);
  expect(await sweep(worker)).toEqual(said({ holds_expired: 150 }));
  expect((await balances()).body.account).toMatchObject({ available: 1000, held: 0 });
  expect(await redis.raw.zcard(due("acme"))).toBe(0);
});

describe("does not stop", () => {
  test("at a hold whose record has vanished: that one leaves the list, the others expire", async () => {
    await open(100);
    for (const id of ["a", "b", "c"]) await reserve(id, 10, brief);
    const text = await redis.raw.get(keys.hold("acme", "b"));
    await redis.raw.del(keys.hold("acme", "b"));
    await redis.later(1_000);
    expect(await sweep(worker)).toEqual(said({ holds_expired: 2, holds_gone: 1 }));
    expect(await redis.raw.zcard(due("acme"))).toBe(0);
    expect(await sweep(worker)).toEqual(said({}));
    await redis.raw.set(keys.hold("acme", "b"), text ?? ""); // it is found again: nothing was lost
    expect((await end("b", "void")).status).toBe(200);
  });

  test("at a record that cannot be read: it stays where it is, and is said to have failed", async () => {
    await open(100);
    for (const id of ["a", "b", "c"]) await reserve(id, 10, brief);
    const text = await redis.raw.get(keys.hold("acme", "b"));
    await redis.raw.set(keys.hold("acme", "b"), "9 PLANTED");
    await redis.later(1_000);
    const report = await sweep(worker);
    expect(report).toMatchObject({ holds_expired: 2, holds_gone: 0 });
    expect(report.holds_failed).toBeGreaterThanOrEqual(1);
    expect(await redis.raw.zrange(due("acme"), "0", "-1")).toEqual(["hold acme b"]);
    await redis.raw.set(keys.hold("acme", "b"), text ?? "");
    expect(await sweep(worker)).toEqual(said({ holds_expired: 1 }));
  });

  test("at a tenant that is frozen, nor at a debt", async () => {
    await open(10);
    await reserve("h0", 5);
    await reserve("h1", 5, brief);
    await end("h0", "settle", { amount: 50 });
    await worker.admin("PATCH", "/tenants/acme", { status: "frozen" });
    await redis.later(1_000);
    expect(await sweep(worker)).toEqual(said({ holds_expired: 1 }));
    expect((await balances()).body.sub_accounts[0]).toMatchObject({ held: 0, debt: 45 });
  });
});

test("charges an accrual beyond what was held, as far as there is money, and owes the rest", async () => {
  await open(100);
  await reserve("h1", 60, brief);
  await end("h1", "extend", { ...brief, accrued: 150 });
  await redis.later(1_000);
  await sweep(worker);
  expect((await hold("h1")).body).toMatchObject({ state: "expired", charged: 150, debt: 50, returned: [] });
  expect((await end("h1", "settle", { amount: 90 })).body).toMatchObject({ charged: 90 }); // it was less
  expect((await balances()).body).toMatchObject({ account: { available: 10 }, sub_accounts: [{ debt: 0 }] });
});

test("scripts that Redis has forgotten, and a database that is no cell, do no harm", async () => {
  await open(100);
  for (const id of ["a", "b"]) await reserve(id, 10, brief);
  await redis.later(1_000);
  await redis.raw.script("FLUSH");
  expect(await sweep(worker)).toEqual(said({ holds_expired: 2 }));
  await redis.raw.flushall();
  expect((await sweep(worker)).level).toBe("info");
  expect(await redis.raw.keys("*")).toEqual([]);
});

test("an outage is said in one word, and another cron line does nothing", async () => {
  await open(100);
  await reserve("h1", 10, brief);
  await redis.later(1_000);
  redis.double.fault({ kind: "html_500" });
  expect(await sweep(worker)).toMatchObject({ job: "sweep", failed: "garbled" });
  worker.clearLogs();
  expect(await sweep(worker, "0 0 * * *")).toBeUndefined();
  expect(worker.logs().map(({ message }) => message)).toEqual([
    expect.stringContaining('"event":"unknown_cron"'),
  ]);
  expect((await hold("h1")).body.state).toBe("open");
  expect(await sweep(worker)).toEqual(said({ holds_expired: 1 }));
});

test("counts what it ends", async () => {
  await worker.deploy({}); // counters start anew
  await open(100);
  await reserve("h1", 10, brief);
  await redis.later(1_000);
  await sweep(worker);
  const { body } = await worker.call("GET", "/metrics", { authorization: `Bearer ${METRICS_KEY}` });
  expect(body).toContain('qm_holds_total{result="expired"} 1\n');
});
