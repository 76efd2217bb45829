// What the outcome of a call does to its credential, as a caller reports it and the next caller meets it.
import { expect, test } from "vitest";
import { credential, useWorker } from "../support/worker.ts";

const worker = useWorker();

const ask = () => worker.internal("/allocate-key", { provider: "openai", model: "gpt-4o" });
const report = async (outcome: Record<string, unknown>) => {
  const { body } = await ask();
  const where = { key_id: body.key_id, provider: "openai", pool: "default" };
  const { body: done } = await worker.internal(`/leases/${body.lease_id}/release`, { ...where, outcome });
  expect(done).toEqual({ released: true });
};
const one = async (key_id: string) =>
  (await worker.admin("GET", `/credentials/openai/default/${key_id}`)).body;
const benchedFor = async (key_id: string) => {
  const { until } = await one(key_id);
  return until === null ? null : Date.parse(until) - worker.redis.now_ms;
};

const DATE = "Mon, 30 Nov 2026 07:26:00 GMT";

test.each([
  [{ retry_after: "120" }, 120_000],
  [{ retry_after: "Mon, 30 Nov 2026 07:28:00 GMT", date: DATE }, 120_000],
  [{ retry_after: "Mon, 30 Nov 2026 07:20:00 GMT", date: DATE }, 60_000],
  [{}, 60_000],
  [{ retry_after: "" }, 60_000],
  [{ retry_after: "0" }, 1_000],
  [{ retry_after: "-5" }, 60_000],
  [{ retry_after: "1.5" }, 1_500],
  [{ retry_after: "9999999999" }, 1_800_000],
])("case B14: a 429 with %j benches for %d ms, and the next caller hears it", async (headers, wait_ms) => {
  await worker.admin("POST", "/credentials", credential("key_01"));
  await report({ kind: "rate_limited", http_status: 429, ...headers });
  expect((await one("key_01")).status).toBe("rate_limited");
  expect(await benchedFor("key_01")).toBe(wait_ms);
  const refused = await ask();
  expect([refused.status, refused.body.reasons]).toEqual([429, { rate_limited: 1 }]);
  expect(refused.headers.get("retry-after")).toBe(String(Math.ceil(wait_ms / 1000)));
});

test("case B14: a Retry-After on a 503 is honoured", async () => {
  await worker.admin("POST", "/credentials", credential("key_01"));
  await report({ kind: "upstream_error", http_status: 503, retry_after: "7" });
  expect(await benchedFor("key_01")).toBe(7_000);
  expect((await one("key_01")).status).toBe("cooling");
});

test("case B11: ten faults of callers bench nobody; ten of upstream open the breaker and disable nobody", async () => {
  const ids = ["a", "b", "c"];
  await worker.admin("POST", "/credentials", { credentials: ids.map((id) => credential(id)) });
  for (let i = 0; i < 10; i++) await report({ kind: "client_error", http_status: i % 2 ? 400 : 404 });
  for (const id of ids) expect(await one(id)).toMatchObject({ status: "available", errors_in_a_row: 0 });
  for (let i = 0; i < 5; i++) await report({ kind: "upstream_error", http_status: 503 });
  const refused = await ask();
  expect([refused.status, refused.body.code, refused.headers.get("retry-after")]).toEqual([
    503,
    "breaker_open",
    "15",
  ]);
  for (const id of ids) expect(["available", "cooling"]).toContain((await one(id)).status);
});

test("case B17: both benched; the refusal names the earlier end, and reserves nothing", async () => {
  await worker.admin("POST", "/credentials", { credentials: [credential("a"), credential("b")] });
  await report({ kind: "rate_limited", retry_after: "5" });
  await report({ kind: "rate_limited", retry_after: "9" });
  const refused = await ask();
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "5"]);
  expect((await worker.admin("GET", "/pools/openai/default")).body.in_flight).toBe(0);
});

test("case B16: an operator clears a bench, and the very next call is served", async () => {
  await worker.admin("POST", "/credentials", credential("key_01"));
  await report({ kind: "exhausted", http_status: 402 });
  expect(await benchedFor("key_01")).toBe(6 * 3_600_000);
  expect((await ask()).status).toBe(429);
  await worker.admin("POST", "/credentials/openai/default/key_01/enable");
  expect((await ask()).status).toBe(200);
});

test("case B20: benches and the breaker survive a restart of the Worker", async () => {
  await worker.admin("POST", "/credentials", {
    credentials: [credential("a"), credential("b", { pool: "vip" })],
  });
  await report({ kind: "auth_failed", http_status: 401 });
  await worker.admin("PATCH", "/pools/openai/vip", { fallback: [], breaker: { mode: "open" } });
  await worker.deploy({ LEASE_KEEP_MINUTES: "3" });
  expect((await ask()).body.reasons).toEqual({ auth_failed: 1 });
  const vip = await worker.internal("/allocate-key", { provider: "openai", model: "gpt-4o", pool: "vip" });
  expect(vip.body.code).toBe("breaker_open");
});

test("a success rate shows what the calls did, and an error streak ends with a success", async () => {
  await worker.admin("POST", "/credentials", credential("key_01"));
  expect((await one("key_01")).success_rate).toBeNull();
  await report({ kind: "upstream_error" });
  expect(await one("key_01")).toMatchObject({ success_rate: 0, errors_in_a_row: 1 });
  await report({ kind: "success" });
  const { success_rate, errors_in_a_row, last_used_at } = await one("key_01");
  expect(success_rate).toBeCloseTo(1 / 16, 2);
  expect([errors_in_a_row, last_used_at]).toEqual([0, new Date(worker.redis.now_ms).toISOString()]);
});
