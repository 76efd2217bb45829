// Holds that nobody ended: funds and room that stay away until cron comes, if these failed. No cron runs here.
import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, describe, expect, test } from "vitest";
import { useBooks } from "../support/books.ts";
import { ledgerVerbsOf } from "../support/ledger-http.ts";
import { PATIENT } from "../support/ledger-routes.ts";
import { aWhileAgo } from "../support/overdue.ts";
import { keys } from "../support/redis.ts";
import { type More, many, useWorker } from "../support/worker.ts";

const worker = useWorker(PATIENT);
const { redis } = worker;
const verbs = ledgerVerbsOf(worker);
useBooks(redis);
beforeEach(() => aWhileAgo(worker));

let tenants = 0;
/** A tenant of a test's own, since an isolate remembers when it last looked: with these caps, and so much in the account. */
async function fresh(amount: number, more: More = {}) {
  const tenant = `t${++tenants}`;
  await verbs.tenant(tenant);
  await verbs.sub("alice", more, tenant);
  if (amount > 0) await verbs.adjust("account", "grant", amount, "first", tenant);
  return {
    tenant,
    reserve: (hold_id: string, asked: number, extra: More = {}) =>
      verbs.reserve(hold_id, asked, { tenant, ttl_seconds: 1, ...extra }),
    end: (hold_id: string, verb: "settle" | "void" | "extend", extra: More = {}) =>
      verbs.end(hold_id, verb, { tenant, ...extra }),
    hold: (hold_id: string) => verbs.hold(hold_id, tenant),
    account: async () => (await verbs.balances(tenant)).body.account,
  };
}

describe("an overdue hold", () => {
  test("keeps no funds from who needs them: it expires, and the reserve succeeds", async () => {
    const { reserve, hold, account } = await fresh(100);
    await reserve("old", 100);
    await redis.later(999);
    expect((await reserve("h1", 100)).status).toBe(402); // it still has a millisecond
    await redis.later(1);
    await sleep(1_000); // it looked less than a second ago
    expect((await reserve("h1", 100)).status).toBe(201);
    expect((await hold("old")).body).toMatchObject({ state: "expired", charged: 0, confirmed: false });
    expect(await account()).toMatchObject({ available: 0, held: 100, spent: 0 });
  });

  test("keeps no room from who needs it: max_concurrent", async () => {
    const { reserve, hold } = await fresh(100, { max_concurrent: 1 });
    await reserve("old", 1);
    await redis.later(1_000);
    expect((await reserve("h1", 1)).status).toBe(201);
    expect((await hold("old")).body.state).toBe("expired");
  });

  test("keeps no funds from a hold that is to grow, nor from a borrow cap", async () => {
    const { reserve, end, hold } = await fresh(1000, { borrow_cap: 100 });
    await reserve("old", 60);
    await reserve("h1", 40, { ttl_seconds: 60 });
    await redis.later(1_000);
    const grown = await end("h1", "extend", { ttl_seconds: 60, amount: 100 });
    expect([grown.status, grown.body.amount]).toEqual([200, 100]);
    expect((await hold("old")).body.state).toBe("expired");
  });

  test("is charged what had accrued; the rest is there, unconfirmed until a late settle corrects it once", async () => {
    const { reserve, end, hold, account } = await fresh(100);
    await reserve("old", 80);
    await end("old", "extend", { ttl_seconds: 1, accrued: 30 });
    await redis.later(1_000);
    expect((await reserve("h1", 71)).body).toMatchObject({ scope: "account", requested: 71, available: 70 });
    expect((await reserve("h1", 70)).status).toBe(201);
    expect((await hold("old")).body).toMatchObject({
      state: "expired",
      charged: 30,
      accrued: 30,
      confirmed: false,
      returned: [{ source: "account", amount: 50 }],
    });
    expect((await end("old", "void")).body).toMatchObject({
      code: "hold_closed",
      reason: "expired",
      charged: 30,
    });
    expect((await end("old", "extend", { ttl_seconds: 9 })).body.state).toBe("expired");
    expect((await reserve("old", 80)).body.state).toBe("expired");
    await end("h1", "void");
    expect((await end("old", "settle", { amount: 45 })).body).toMatchObject({ charged: 45, replayed: false });
    expect((await end("old", "settle", { amount: 45 })).body.replayed).toBe(true);
    expect((await end("old", "settle", { amount: 46 })).body.state).toBe("settled");
    expect(await account()).toEqual({ available: 55, held: 0, spent: 45, lapsed: 0 });
    expect((await hold("old")).body.confirmed).toBe(true);
  });

  test("may be settled, voided or extended itself while nobody needed it", async () => {
    const { reserve, end } = await fresh(100);
    for (const id of ["a", "b", "c"]) await reserve(id, 10);
    await redis.later(30_000);
    expect((await end("a", "settle", { amount: 10 })).body.charged).toBe(10);
    expect((await end("b", "void")).status).toBe(200);
    expect((await end("c", "extend", { ttl_seconds: 60 })).status).toBe(200);
    expect((await reserve("h1", 100)).status).toBe(402);
    expect((await end("c", "settle", { amount: 1 })).body.charged).toBe(1); // it has time again
  });

  test("of another tenant stays as it is, and one that is not overdue, too", async () => {
    const [one, two] = [await fresh(100), await fresh(100)];
    await one.reserve("h1", 50, { ttl_seconds: 60 });
    for (const { reserve } of [one, two]) await reserve("old", 50);
    await redis.later(1_000);
    expect((await one.reserve("h2", 51)).body).toMatchObject({ available: 50 });
    expect((await one.hold("h1")).body.state).toBe("open");
    expect((await one.hold("old")).body.state).toBe("expired");
    if (keys.tenant(one.tenant).due_key !== keys.tenant(two.tenant).due_key)
      expect((await two.hold("old")).body.state).toBe("open");
  });
});

test("up to 32 are ended at once, and what they had is given to one who asks", async () => {
  const { reserve, account } = await fresh(40);
  await many(40, (i) => reserve(`old${i}`, 1));
  await redis.later(1_000);
  expect((await reserve("h1", 33)).body).toMatchObject({ code: "quota_exhausted", available: 32 });
  expect(await account()).toMatchObject({ available: 32, held: 8 });
  expect((await reserve("h1", 32)).status).toBe(201);
});

test("it is looked for at most once a second: a storm of refusals is no storm of reads", async () => {
  const { reserve } = await fresh(0);
  await reserve("warm", 1);
  await sleep(1_000);
  let looked = 0;
  redis.double.fault({
    kind: "delay",
    times: 1e6,
    match: ([name = ""]) => {
      if (name.toUpperCase() === "ZRANGE") looked++;
      return false;
    },
  });
  const started_at_ms = performance.now();
  const answers = await many(30, (i) => reserve(`h${i}`, 1));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([402]));
  const seconds = (performance.now() - started_at_ms) / 1_000;
  expect(looked).toBeGreaterThanOrEqual(1);
  expect(looked).toBeLessThanOrEqual(1 + Math.ceil(seconds));
});

test("a refusal that no overdue hold is the cause of ends none", async () => {
  const { tenant, reserve, hold } = await fresh(100);
  await reserve("old", 1);
  await redis.later(1_000);
  await worker.admin("PATCH", `/tenants/${tenant}`, { status: "frozen" });
  expect((await reserve("h1", 1)).status).toBe(403);
  expect((await hold("old")).body.state).toBe("open");
});
