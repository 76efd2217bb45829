// The gateway's errors as SDKs read them: a storm of repeats, or an exception that nobody catches, if these failed.
import { expect, test } from "vitest";
import { errorTable } from "../../src/errors.ts";
import { dialectError, dialectErrorEvent, type GatewayCode } from "../../src/gateway/dialect-error.ts";
import type { Dialect } from "../../src/gateway/meter/dialect.ts";

const DIALECTS: Dialect[] = ["openai_chat", "openai_responses", "openai_embeddings", "anthropic_messages"];
const error = (code: GatewayCode, more = {}) => ({ code, message: "why", request_id: "req_1", ...more });
const made = (dialect: Dialect, code: GatewayCode, more = {}) => {
  const { status, headers, body } = dialectError(dialect, error(code, more));
  return { status, headers, body: JSON.parse(body) };
};

/** Code; status, type and code of OpenAI; status and type of Anthropic; whether SDKs may repeat it. */
const rows: [GatewayCode, number, string, string, number, string, boolean][] = [
  ["invalid_request", 400, "invalid_request_error", "invalid_request", 400, "invalid_request_error", false],
  ["unauthenticated", 401, "authentication_error", "invalid_api_key", 401, "authentication_error", false],
  ["quota_exhausted", 429, "insufficient_quota", "insufficient_quota", 402, "billing_error", false],
  ["forbidden", 403, "permission_error", "forbidden", 403, "permission_error", false],
  ["not_found", 404, "not_found_error", "not_found", 404, "not_found_error", false],
  ["model_not_found", 404, "not_found_error", "model_not_found", 404, "not_found_error", false],
  ["policy_conflict", 409, "invalid_request_error", "policy_conflict", 409, "invalid_request_error", false],
  [
    "idempotency_conflict",
    409,
    "invalid_request_error",
    "idempotency_conflict",
    409,
    "invalid_request_error",
    false,
  ],
  ["lease_lost", 503, "service_unavailable_error", "lease_lost", 503, "overloaded_error", true],
  ["hold_closed", 409, "invalid_request_error", "hold_closed", 409, "invalid_request_error", false],
  ["too_large", 413, "invalid_request_error", "too_large", 413, "request_too_large", false],
  [
    "unsupported_media_type",
    415,
    "invalid_request_error",
    "unsupported_media_type",
    415,
    "invalid_request_error",
    false,
  ],
  ["no_capacity", 429, "rate_limit_error", "no_capacity", 429, "rate_limit_error", true],
  ["concurrency_limited", 429, "rate_limit_error", "concurrency_limited", 429, "rate_limit_error", true],
  ["rate_limited", 429, "rate_limit_error", "rate_limited", 429, "rate_limit_error", true],
  ["limit_reached", 429, "rate_limit_error", "limit_reached", 429, "rate_limit_error", false],
  ["internal_error", 500, "server_error", "internal_error", 500, "api_error", false],
  ["store_unavailable", 503, "service_unavailable_error", "store_unavailable", 503, "overloaded_error", true],
  ["breaker_open", 503, "service_unavailable_error", "breaker_open", 503, "overloaded_error", true],
  ["upstream_error", 502, "server_error", "upstream_error", 502, "api_error", true],
  ["upstream_timeout", 504, "server_error", "upstream_timeout", 504, "timeout_error", true],
];

test.each(rows)("%s", (code, status, type, name, claudeStatus, claudeType, repeats) => {
  for (const dialect of DIALECTS.slice(0, 3)) {
    const openai = made(dialect, code);
    expect([openai.status, openai.body]).toEqual([
      status,
      { error: { message: "why", type, param: null, code: name } },
    ]);
    expect(openai.headers["x-should-retry"]).toBe(repeats ? undefined : "false");
  }
  const claude = made("anthropic_messages", code);
  expect([claude.status, claude.body]).toEqual([
    claudeStatus,
    { type: "error", error: { type: claudeType, message: "why" }, request_id: "req_1" },
  ]);
  expect(claude.headers["x-should-retry"]).toBe(repeats ? undefined : "false");
});

test("every error of the API has its row above", () => {
  expect(rows.map(([code]) => code)).toEqual(expect.arrayContaining(errorTable.map(({ code }) => code)));
});

test.each<[string, GatewayCode, object, string | undefined, string | undefined]>([
  ["soon", "no_capacity", { retry_after_seconds: 5 }, "5", undefined],
  ["rounded up", "rate_limited", { retry_after_seconds: 1.2 }, "2", undefined],
  ["never at once", "rate_limited", { retry_after_seconds: 0 }, "1", undefined],
  ["a minute", "rate_limited", { retry_after_seconds: 60 }, "60", undefined],
  ["longer than the SDKs would wait", "rate_limited", { retry_after_seconds: 61 }, "61", "false"],
  ["a window that ends soon", "limit_reached", { retry_after_seconds: 10 }, "10", undefined],
  ["a window of days", "limit_reached", { retry_after_seconds: 90_000 }, "90000", "false"],
  ["a breaker", "breaker_open", { retry_after_seconds: 30 }, "30", undefined],
  ["no wait helps", "quota_exhausted", { retry_after_seconds: 30 }, undefined, "false"],
])("Retry-After: %s", (_, code, more, retry_after, should_retry) => {
  for (const dialect of DIALECTS) {
    const { headers } = made(dialect, code, more);
    expect([headers["retry-after"], headers["x-should-retry"]]).toEqual([retry_after, should_retry]);
  }
});

test.each([
  [503, 503],
  [529, 529],
  [429, 429],
  [500, 500],
  [401, 502],
  [403, 502],
  [402, 502],
  [307, 502],
  [999, 502],
  [undefined, 502],
])("case E48: all attempts failed, the last with %s: the caller gets %s", (status, answered) => {
  for (const dialect of DIALECTS) expect(made(dialect, "upstream_error", { status }).status).toBe(answered);
});

test("the status of another error is its own", () => {
  expect(made("openai_chat", "no_capacity", { status: 503 }).status).toBe(429);
});

test("the field that is not valid is named", () => {
  expect(made("openai_chat", "invalid_request", { param: "max_tokens" }).body.error.param).toBe("max_tokens");
});

test("the id is where each SDK looks for it, and nothing keeps an error", () => {
  const { headers } = made("anthropic_messages", "no_capacity");
  expect([headers["request-id"], headers["cache-control"]]).toEqual(["req_1", "no-store"]);
  expect(made("openai_chat", "no_capacity").headers["request-id"]).toBeUndefined();
});

test.each<[Dialect, string]>([
  [
    "openai_chat",
    'data: {"error":{"message":"why","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}\n\n',
  ],
  [
    "openai_responses",
    'event: error\ndata: {"type":"error","code":"insufficient_quota","message":"why","param":null}\n\n',
  ],
  [
    "anthropic_messages",
    'event: error\ndata: {"type":"error","error":{"type":"billing_error","message":"why"},"request_id":"req_1"}\n\n',
  ],
])("the end of a stream that ran out of funds: %s", (dialect, event) => {
  expect(dialectErrorEvent(dialect, error("quota_exhausted"))).toBe(event);
});
