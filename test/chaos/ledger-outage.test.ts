// Redis away or ill under the ledger: a caller who would hang, or not know whether money has moved, if these failed.
import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, describe, expect, test } from "vitest";
import { settle } from "../../src/scripts/quota/settle.ts";
import { useBooks } from "../support/books.ts";
import { ledgerVerbsOf } from "../support/ledger-http.ts";
import { LEDGER_ROUTES, type Route, send } from "../support/ledger-routes.ts";
import { many, useWorker } from "../support/worker.ts";

const TIMEOUT_MS = 1_500;
const DEADLINE_MS = 2_000;
/** What the way to the Worker and back may cost on a busy machine, for all routes at once. */
const SLACK_MS = 5_000;

const worker = useWorker({ REDIS_TIMEOUT_MS: String(TIMEOUT_MS), REQUEST_DEADLINE_MS: String(DEADLINE_MS) });
const { redis } = worker;
const { open, reserve, end, balances } = ledgerVerbsOf(worker);
useBooks(redis);

/** Those that only read, and those that read before they change: nothing can have happened when the first call fails. */
const readsFirst = ({ method, path }: Route) =>
  method === "GET" || method === "PATCH" || path === "/api/admin/tenants";

/** An outage as the callers of every route see it: in time, with a code of its own, and when to come back. */
async function expectOutages(routes: Route[], maybeOf: (route: Route) => boolean) {
  const started_at_ms = performance.now();
  const answers = await many(routes.length, (i) => send(worker, routes[i] as Route));
  expect(performance.now() - started_at_ms).toBeLessThan(DEADLINE_MS + SLACK_MS);
  for (const [i, route] of routes.entries()) {
    const { status, headers, body } = answers[i] ?? { status: 0, headers: new Headers(), body: {} };
    expect([route, status, body.code, body.maybe_applied]).toEqual([
      route,
      503,
      "store_unavailable",
      maybeOf(route),
    ]);
    expect(headers.get("retry-after")).toBe(String(body.retry_after_seconds));
    expect(body.detail).toContain(maybeOf(route) ? "repeat it with the same id" : "did not answer");
  }
}

beforeEach(async () => {
  await open(1000);
  await reserve("h1", 100);
});

describe("every route of the ledger, and whether it may have happened", () => {
  const before = { available: 900, held: 100, spent: 0, lapsed: 0 };

  test.each(["html_500", "drop_before"] as const)("case D42: %s", async (kind) => {
    redis.double.fault({ kind, times: 1e6 });
    await expectOutages(LEDGER_ROUTES, (route) => !readsFirst(route));
    redis.double.clearFaults();
    expect((await balances()).body.account).toEqual(before);
  });

  test("case D42: a limit of the database is refused before it is executed: nothing may have happened", async () => {
    redis.double.fault({ kind: "too_many_requests", times: 1e6 });
    await expectOutages(LEDGER_ROUTES, () => false);
    redis.double.clearFaults();
    expect((await balances()).body.account).toEqual(before);
  });

  test("Redis is stopped", async () => {
    await redis.server.stop();
    await expectOutages(LEDGER_ROUTES, (route) => !readsFirst(route));
    await redis.server.restart();
    await redis.later(1000);
  });

  test("Redis hangs; what it has received it does once it goes on, and each change is one", async () => {
    const ends = LEDGER_ROUTES.filter(({ path }) => /settle$/.test(path));
    redis.server.pause();
    await expectOutages(
      [...ends, ...LEDGER_ROUTES.filter(readsFirst)],
      (route) => !readsFirst(route),
    ).finally(() => redis.server.resume());
    const again = await end("h1", "settle", { amount: 1 });
    expect([again.status, again.body.charged]).toEqual([200, 1]);
    expect((await balances()).body.account).toEqual({ available: 999, held: 0, spent: 1, lapsed: 0 });
  });
});

test("a settle that reaches Redis after it was given up on is charged once, and its repeat is the answer", async () => {
  const { sha, source } = settle.text.upstash;
  const match = ([, what = ""]: string[]) => what === sha || what === source;
  await many(1, () => end("h1", "settle", { amount: 10 })); // scripts are known
  await reserve("h2", 50);
  redis.double.fault({ kind: "delay", ms: TIMEOUT_MS + 200, match });
  const lost = await end("h2", "settle", { amount: 30 });
  expect([lost.status, lost.body.maybe_applied]).toEqual([503, true]);
  await sleep(DEADLINE_MS); // it has arrived
  expect((await end("h2", "settle", { amount: 30 })).body).toMatchObject({ charged: 30, replayed: true });
  expect((await balances()).body.account).toEqual({ available: 960, held: 0, spent: 40, lapsed: 0 });
});

test("the look at overdue holds fails: the refusal that is known stays, and nothing is held", async () => {
  redis.double.fault({ kind: "html_500", match: ([name = ""]) => name.toUpperCase() === "ZRANGE" });
  expect((await reserve("h2", 5000)).status).toBe(402);
  expect((await balances()).body.account).toMatchObject({ available: 900, held: 100 });
});
