// Every error of the table, provoked: a caller who would react wrongly, or learn too much, if these failed.
import { describe, expect, test } from "vitest";
import { type Code, errorTable } from "../../src/errors.ts";
import { ledgerVerbsOf } from "../support/ledger-http.ts";
import { keys } from "../support/redis.ts";
import { type Answer, INTERNAL_KEY, useWorker, verbsOf } from "../support/worker.ts";

const worker = useWorker();
const { add, allocate, lease, renew, release } = verbsOf(worker);
const { reserve, end, open } = ledgerVerbsOf(worker);
const { redis, call } = worker;

const ALLOCATE = "/api/internal/allocate-key";
const internal = { "x-internal-key": INTERNAL_KEY };
const MEGABYTE = 1_048_576;

/** How each code comes about. */
const provoke: Record<Code, () => Promise<Answer>> = {
  invalid_request: () => allocate({ provider: "no id" }),
  unauthenticated: () => call("POST", ALLOCATE, {}, {}),
  not_found: () => allocate({ provider: "nobody" }),
  policy_conflict: () => add("key_01", 1, { pool: "vip" }),
  quota_exhausted: () => reserve("h1", 101),
  forbidden: async () => {
    await worker.admin("PATCH", "/tenants/acme", { status: "frozen" });
    return reserve("h1", 1);
  },
  hold_closed: async () => {
    await reserve("h1", 1);
    await end("h1", "void");
    return end("h1", "settle", { amount: 1 });
  },
  concurrency_limited: async () => {
    await reserve("h1", 1);
    return reserve("h2", 1);
  },
  idempotency_conflict: async () => {
    await lease({ op_id: "op-1" });
    return allocate({ op_id: "op-1", lease_seconds: 9 });
  },
  lease_lost: async () => renew({ ...(await lease()), lease_id: "lse_nobody" }),
  too_large: () => worker.unfinished(ALLOCATE, { ...internal, "content-length": String(10 * MEGABYTE) }),
  unsupported_media_type: () => call("POST", ALLOCATE, { ...internal, "content-type": "text/plain" }, "{}"),
  no_capacity: async () => {
    await lease();
    return allocate();
  },
  internal_error: async () => {
    await redis.raw.hset(keys.pool("openai", "default").pool_key, "key_01", "9 PLANTED");
    return allocate();
  },
  store_unavailable: async () => {
    redis.double.fault({ kind: "html_500" });
    return renew({ lease_id: "lse_1", key_id: "key_01", provider: "openai", pool: "default" });
  },
  breaker_open: async () => {
    await add("key_01", 9);
    for (let i = 0; i < 5; i++) {
      await release(await lease(), { outcome: { kind: "upstream_error", retry_after: "1" } });
      await redis.later(1000);
    }
    return allocate();
  },
};

/** What each says beside the common fields. */
const extra: Partial<Record<Code, Record<string, unknown>>> = {
  invalid_request: { errors: [{ field: "provider", message: expect.stringContaining("1 to 64") }] },
  quota_exhausted: { scope: "account", requested: 101, available: 100 },
  hold_closed: { reason: "voided", state: "voided", charged: 0 },
  concurrency_limited: { max_concurrent: 1 },
  lease_lost: { reason: "unknown" },
  too_large: { max_bytes: MEGABYTE },
  no_capacity: { reasons: { full: 1 }, retry_after_seconds: 35 },
  store_unavailable: { maybe_applied: true, retry_after_seconds: 1 },
  breaker_open: { retry_after_seconds: 14 },
};

describe("the table", () => {
  test.each(errorTable)("$status $code", async ({ status, code, title }) => {
    await add("key_01");
    await open(100, { max_concurrent: 1 });
    const answer = await provoke[code as Code]();
    const request_id = answer.headers.get("x-request-id");
    expect(answer.status).toBe(status);
    expect(answer.body).toEqual({
      type: `/docs#${code}`,
      title,
      status,
      detail: expect.stringMatching(/\S/),
      code,
      request_id,
      ...extra[code as Code],
    });
    expect(answer.headers.get("content-type")).toBe("application/problem+json");
    expect(answer.headers.get("cache-control")).toBe("no-store");
    const wait = answer.body.retry_after_seconds;
    expect(answer.headers.get("retry-after")).toBe(wait === undefined ? null : String(wait));
    expect(request_id).toMatch(/^req_[\w-]{24}$/);
    expect(JSON.stringify(answer.body)).not.toMatch(
      /\bat \S+:\d+|\.ts\b|\.js\b|PLANTED|user_script|EVALSHA/i,
    );
  });

  test("an outage and a full pool are told apart in the counters and in the log", async () => {
    await add("key_01");
    await provoke.no_capacity();
    worker.clearLogs();
    await provoke.store_unavailable();
    const log = worker
      .logs()
      .map(({ message }) => message)
      .join("\n");
    expect(log).toContain('"event":"store_unavailable"');
    expect(log).not.toContain("no_capacity");
  });
});

describe("routes that are not there", () => {
  test.each([
    ["GET", "/"],
    ["GET", "/nothing"],
    ["GET", "/api"],
    ["POST", "/healthz"],
    ["POST", "/api/internal/nothing"],
    ["GET", ALLOCATE],
    ["DELETE", "/api/internal/leases/lse_1/renew"],
  ])("%s %s is a 404 like any other", async (method, path) => {
    const { status, body } = await call(method, path, internal);
    expect([status, body.code, body.detail]).toEqual([404, "not_found", "no such route"]);
  });

  test("under an authority, a route that is not there is a 401 to whoever has no key", async () => {
    for (const path of ["/api/internal/nothing", "/api/admin/nothing"])
      expect((await call("GET", path, {})).status).toBe(401);
  });
});

describe("bodies that are not parsed", () => {
  test("one that says it is too large is refused unread; at the limit it is read", async () => {
    const announced = (length: number) =>
      worker.unfinished(ALLOCATE, { ...internal, "content-length": String(length) });
    expect((await announced(MEGABYTE + 1)).body).toMatchObject({ code: "too_large", max_bytes: MEGABYTE });
    const at_limit = `{${" ".repeat(MEGABYTE - 2)}}`;
    expect((await call("POST", ALLOCATE, internal, at_limit)).body.code).toBe("invalid_request");
  });

  test("one that says nothing of its length is cut off at the limit", async () => {
    const chunks = Array.from({ length: 17 }, () => " ".repeat(65_536));
    expect((await worker.unfinished(ALLOCATE, internal, chunks)).status).toBe(413);
  });

  test.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/jsonp",
  ])("%s is 415", async (type) => {
    expect((await call("POST", ALLOCATE, { ...internal, "content-type": type }, "{}")).status).toBe(415);
  });

  test("a charset beside application/json is fine", async () => {
    await add("key_01");
    const headers = { ...internal, "content-type": "application/json; charset=utf-8" };
    expect((await call("POST", ALLOCATE, headers, { provider: "openai", model: "gpt-4o" })).status).toBe(200);
  });
});

describe("the request id", () => {
  test("of the caller comes back in the header, the problem and the log; a bad one is replaced", async () => {
    worker.clearLogs();
    const given = "trace-7_b";
    const echoed = await call("GET", "/nothing", { "x-request-id": given });
    expect([echoed.headers.get("x-request-id"), echoed.body.request_id]).toEqual([given, given]);
    expect(worker.logs().some(({ message }) => message.includes(`"request_id":"${given}"`))).toBe(true);
    for (const bad of ["has space", "<script>", "x".repeat(65)]) {
      const { headers, body } = await call("GET", "/nothing", { "x-request-id": bad });
      expect(headers.get("x-request-id")).toMatch(/^req_[\w-]{24}$/);
      expect(body.request_id).toBe(headers.get("x-request-id"));
    }
  });

  test("is on every reply, and each has its own", async () => {
    const replies = await Promise.all(
      ["/healthz", "/docs", "/openapi.json", "/readyz", "/x"].map((path) => call("GET", path, {})),
    );
    expect(new Set(replies.map(({ headers }) => headers.get("x-request-id"))).size).toBe(5);
  });
});
