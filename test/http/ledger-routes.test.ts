// What every route of the ledger has in common: a stranger who would get in, an outage taken for an unknown tenant, a secret in
// a log, if these failed.
import { describe, expect, test } from "vitest";
import { dump, useBooks } from "../support/books.ts";
import { ledgerVerbsOf } from "../support/ledger-http.ts";
import {
  keyOf,
  LEDGER_ROUTES,
  PATIENT,
  ROUTES_OF_ACME,
  type Route,
  send,
  TENANT_ROUTES,
} from "../support/ledger-routes.ts";
import { METRICS_KEY, many, useWorker } from "../support/worker.ts";

const worker = useWorker(PATIENT);
const { redis, call } = worker;
const { tenant, sub, open, reserve, end, refund, adjust, hold } = ledgerVerbsOf(worker);
useBooks(redis);

const MEGABYTE = 1_048_576;
const changing = LEDGER_ROUTES.filter(({ body }) => body !== undefined);

test("without a key, or with one of another surface: 401, and nothing happens", async () => {
  await open(1000);
  const before = await dump(redis);
  const wrong = [{}, { "x-internal-key": "", authorization: "Bearer" }];
  await many(LEDGER_ROUTES.length, async (i) => {
    const route = LEDGER_ROUTES[i] as Route;
    for (const headers of [...wrong, keyOf(route, true)]) {
      const { status, body } = await call(route.method, route.path, headers, route.body);
      expect([route, status, body.code]).toEqual([route, 401, "unauthenticated"]);
    }
  });
  expect(await dump(redis)).toEqual(before);
});

test("an unknown tenant is a 404 on every route of one, and nothing is kept of it", async () => {
  for (const route of ROUTES_OF_ACME) {
    const { status, body } = await send(worker, route);
    expect([route, status, body.code, body.detail]).toEqual([
      route,
      404,
      "not_found",
      "tenant: there is no such tenant",
    ]);
  }
  expect(Object.keys(await dump(redis))).toEqual(["{test}:meta"]);
});

test("an unknown sub-account is a 404 that says which of the two is not there", async () => {
  await tenant();
  const ofAlice = ROUTES_OF_ACME.filter(({ path }) => /alice(\/tokens)?$/.test(path));
  const asked = [
    ...ofAlice.map((route) => send(worker, route)),
    adjust({ sub_account: "alice" }, "grant", 1),
  ];
  const answers = await Promise.all([...asked, reserve("h1", 1)]);
  expect(answers.length).toBe(7);
  for (const { status, body } of answers)
    expect([status, body.code, body.detail]).toEqual([
      404,
      "not_found",
      "sub_account: the tenant has no such sub-account",
    ]);
});

test("an emptied Redis is a 503 on every route, never a 404 and never an empty list", async () => {
  await open(1000);
  await reserve("h1", 1);
  await redis.raw.flushall();
  await many(LEDGER_ROUTES.length, async (i) => {
    const route = LEDGER_ROUTES[i] as Route;
    const { status, headers, body } = await send(worker, route);
    const told = [body.code, body.maybe_applied, headers.get("retry-after")];
    expect([route, status, ...told]).toEqual([route, 503, "store_unavailable", false, "1"]);
    expect(body.detail).toContain("/api/admin/cell");
  });
  expect(await redis.raw.keys("*")).toEqual([]);
});

describe("bodies that are not parsed", () => {
  test("one that is too large, one of another type, one that is no JSON, an unknown field", async () => {
    await open(1000);
    const before = await dump(redis);
    await many(changing.length, async (i) => {
      const route = changing[i] as Route;
      const text = { "content-type": "text/plain" };
      const wrong = await send(worker, route, { headers: text, body: "{}" });
      const broken = await send(worker, route, { body: "{" });
      const more = await send(worker, route, { body: { ...route.body, surprise: 1 } });
      expect([route, wrong.status, wrong.body.code]).toEqual([route, 415, "unsupported_media_type"]);
      expect([route, broken.status, broken.body.errors]).toEqual([
        route,
        400,
        [{ field: "body", message: "not JSON" }],
      ]);
      expect([route, more.status, more.body.errors]).toEqual([
        route,
        400,
        [{ field: "surprise", message: "no such field" }],
      ]);
      if (route.method !== "POST") return;
      const headers = { ...keyOf(route), ...route.headers, "content-length": String(MEGABYTE + 1) };
      const large = await worker.unfinished(route.path, headers);
      expect([route, large.status, large.body.max_bytes]).toEqual([route, 413, MEGABYTE]);
    });
    expect(await dump(redis)).toEqual(before);
  });
});

test("log lines and metrics carry ids and words: no metadata, no reason, no token, no amount", async () => {
  await worker.deploy({}); // counters start anew
  worker.clearLogs();
  await open(1000);
  const { body: made } = await worker.admin("POST", "/tenants/acme/sub-accounts/alice/tokens", {
    name: "PLANTED name",
  });
  await reserve("h1", 777_001, { metadata: { planted: "PLANTED metadata" } });
  await reserve("h1", 101, { metadata: { planted: "PLANTED metadata" } });
  await reserve("h1", 101, { metadata: { planted: "PLANTED metadata" } });
  await reserve("h2", 101, { model: "PLANTED-model" });
  await end("h1", "settle", { amount: 100, usage: { planted: 1 } });
  await end("h2", "void", { reason: "PLANTED reason" });
  await refund("h1", "r1", 1, { reason: "PLANTED reason" });
  await hold("h1");
  const log = worker.logs().map(({ message }) => message);
  const { body: metrics } = await call("GET", "/metrics", { authorization: `Bearer ${METRICS_KEY}` });
  for (const text of [log.join("\n"), metrics])
    expect(text).not.toMatch(new RegExp(`planted|777001|qm_acme|${made.token}|alice~`, "i"));
  const lines = log.map((line) => JSON.parse(line)).filter(({ event }) => event === "request");
  const settling = lines.find(({ route }) => route === "/api/internal/holds/:hold_id/settle");
  expect(settling).toMatchObject({ status: 200, tenant: "acme", hold_id: "h1" });
  expect(lines.find(({ route }) => route === "/api/internal/refunds")).toMatchObject({ op_id: "r1" });
  const counted = [...metrics.matchAll(/^qm_holds_total\{result="(\w+)"\} (\d+)$/gm)];
  expect(Object.fromEntries(counted.map(([, result, n]) => [result, Number(n)]))).toEqual({
    reserved: 2,
    replayed: 1,
    settled: 1,
    voided: 1,
    refunded: 1,
  });
  expect(metrics).toContain('qm_refusals_total{code="quota_exhausted"} 1\n');
});

test("a page begins after its cursor, and a bad limit is refused", async () => {
  await tenant();
  for (const name of ["b", "a", "B", "c"]) await sub(name);
  const lists = ["/api/admin/tenants/acme/sub-accounts", "/api/internal/tenants/acme/balances"];
  for (const path of lists) {
    const names: string[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const query: string = cursor === "" ? "" : `&cursor=${cursor}`;
      const { body } = await send(worker, { method: "GET", path: `${path}?limit=3${query}` });
      names.push(...body.sub_accounts.map(({ sub_account }: { sub_account: string }) => sub_account));
      cursor = body.next_cursor;
    }
    expect([path, names]).toEqual([path, ["B", "a", "b", "c"]]); // by byte
    for (const limit of ["0", "1001", "x", "-1", "1.5", ""]) {
      const { status, body } = await send(worker, { method: "GET", path: `${path}?limit=${limit}` });
      expect([limit, status, body.errors?.[0].field]).toEqual([limit, 400, "limit"]);
    }
  }
  const last = await send(worker, { method: "GET", path: `${TENANT_ROUTES[1]?.path}?cursor=acme` });
  expect(last.body).toEqual({ tenants: [], next_cursor: null });
});
