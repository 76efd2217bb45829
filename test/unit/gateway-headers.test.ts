// Headers both ways: a secret, a name or an organization that crosses the gateway, if these failed.
import { expect, test } from "vitest";
import { type Auth, authHeaders, redacted } from "../../src/gateway/auth.ts";
import { callerHeaders, upstreamHeaders } from "../../src/gateway/headers.ts";
import type { Dialect } from "../../src/gateway/meter/dialect.ts";

const KEY: Auth = { kind: "api_key", secret: { api_key: "sk-upstream" } };
const OAUTH: Auth = { kind: "oauth", secret: { access_token: "at-1", refresh_token: "rt-1" } };
const session = (secret: unknown): Auth => ({ kind: "session", secret });

const sent = (dialect: Dialect, headers: Record<string, string>, auth = KEY, scope = ["acme", "alice"]) =>
  Object.fromEntries(upstreamHeaders({ dialect, headers: new Headers(headers), scope, ...auth }));
const received = (headers: [string, string][]) => Object.fromEntries(callerHeaders(new Headers(headers)));

const CALLER = {
  authorization: "Bearer qm_acme~alice~secret",
  "x-api-key": "qm_acme~alice~secret",
  cookie: "a=b",
  host: "gateway.example",
  connection: "keep-alive",
  "content-length": "5",
  "content-type": "text/plain",
  "accept-language": "de",
  "accept-encoding": "br",
  "user-agent": "OpenAI/JS",
  referer: "https://intranet.example",
  origin: "https://intranet.example",
  "cf-connecting-ip": "192.0.2.1",
  "cf-ray": "1",
  "x-forwarded-for": "192.0.2.1",
  "x-real-ip": "192.0.2.1",
  "true-client-ip": "192.0.2.1",
  "openai-organization": "org-1",
  "openai-project": "proj-1",
  "x-stainless-os": "Linux",
  "x-qm-affinity": "a",
  "anthropic-dangerous-direct-browser-access": "true",
  "x-new-tomorrow": "1",
  accept: "text/event-stream",
  "openai-beta": "responses=v1",
  "anthropic-version": "2024-01-01",
  "anthropic-beta": "a-1,b-2",
};

test("case E50: what goes upstream is what the list has, and the credential", () => {
  const openai = {
    accept: "text/event-stream",
    authorization: "Bearer sk-upstream",
    "content-type": "application/json",
    "openai-beta": "responses=v1",
  };
  expect(sent("openai_chat", CALLER)).toEqual(openai);
  expect(sent("openai_responses", CALLER)).toEqual(openai);
  expect(sent("openai_embeddings", CALLER)).toEqual(openai);
  expect(sent("anthropic_messages", CALLER)).toEqual({
    accept: "text/event-stream",
    "anthropic-beta": "a-1,b-2",
    "anthropic-version": "2024-01-01",
    "content-type": "application/json",
    "x-api-key": "sk-upstream",
  });
});

test("a caller that names no version of Anthropic's API still gets one", () => {
  expect(sent("anthropic_messages", {})["anthropic-version"]).toBe("2023-06-01");
  expect(sent("openai_chat", {})["anthropic-version"]).toBeUndefined();
});

test("the beta of an OAuth token stands beside the caller's", () => {
  const { authorization, "anthropic-beta": beta } = sent("anthropic_messages", CALLER, OAUTH);
  expect([authorization, beta]).toEqual(["Bearer at-1", "a-1,b-2, oauth-2025-04-20"]);
  const again = sent("anthropic_messages", { "anthropic-beta": "oauth-2025-04-20,a" }, OAUTH);
  expect(again["anthropic-beta"]).toBe("oauth-2025-04-20,a");
  expect(sent("anthropic_messages", {}, OAUTH)["anthropic-beta"]).toBe("oauth-2025-04-20");
  expect(sent("openai_chat", {}, OAUTH)["anthropic-beta"]).toBeUndefined();
});

test("two tenants with one idempotency key do not get each other's answer; a repeat keeps its own", () => {
  const key = (scope: string[], value = "1") =>
    sent("openai_chat", { "idempotency-key": value }, KEY, scope)["idempotency-key"];
  expect(key(["acme", "alice"])).toMatch(/^qm_[\w-]{24}$/);
  expect(key(["acme", "alice"])).toBe(key(["acme", "alice"]));
  expect(key(["acme", "alice"])).not.toBe(key(["acme", "bob"]));
  expect(key(["acme", "alice"])).not.toBe(key(["acme", "alice"], "2"));
});

test.each<[string, Dialect, Auth, Record<string, string>]>([
  ["a key", "openai_chat", KEY, { authorization: "Bearer sk-upstream" }],
  ["a key of Anthropic", "anthropic_messages", KEY, { "x-api-key": "sk-upstream" }],
  ["OAuth", "openai_responses", OAUTH, { authorization: "Bearer at-1" }],
  ["a session", "openai_chat", session({ headers: { "X-Token": " t " } }), { "x-token": "t" }],
  ["a cookie", "openai_chat", session({ cookie: "s=1", other: "x" }), { cookie: "s=1" }],
  ["both", "openai_chat", session({ headers: { a: "b" }, cookie: "s=1" }), { a: "b", cookie: "s=1" }],
  [
    "headers that are no texts",
    "openai_chat",
    session({ headers: { a: 1 }, cookie: "s=1" }),
    { cookie: "s=1" },
  ],
  [
    "headers of the connection",
    "openai_chat",
    session({ headers: { Host: "x", "cf-ray": "x", a: "b" } }),
    { a: "b" },
  ],
  ["a line break", "openai_chat", session({ headers: { a: "b\r\nc: d", "e\n": "f", g: "h" } }), { g: "h" }],
  ["a secret of another kind", "openai_chat", { kind: "api_key", secret: { access_token: "x" } }, {}],
  [
    "no secret",
    "anthropic_messages",
    { kind: "oauth", secret: null },
    { "anthropic-beta": "oauth-2025-04-20" },
  ],
])("a credential as headers: %s", (_, dialect, auth, headers) => {
  expect(authHeaders(dialect, auth)).toEqual(headers);
});

test("case E50: what comes back is what the list has", () => {
  const headers: [string, string][] = [
    ["content-type", "text/event-stream"],
    ["x-request-id", "req_1"],
    ["set-cookie", "__cf_bm=1"],
    ["openai-organization", "org-1"],
    ["openai-project", "proj-1"],
    ["openai-processing-ms", "5"],
    ["anthropic-organization-id", "org-1"],
    ["x-ratelimit-remaining-requests", "1"],
    ["anthropic-ratelimit-requests-remaining", "1"],
    ["cache-control", "public, max-age=60"],
    ["server", "cloudflare"],
    ["cf-ray", "1"],
    ["via", "1.1 x"],
    ["alt-svc", "h3"],
    ["location", "https://elsewhere.example"],
    ["content-encoding", "gzip"],
    ["content-length", "5"],
    ["access-control-allow-origin", "*"],
    ["x-should-retry", "false"],
    ["x-new-tomorrow", "1"],
  ];
  expect(received(headers)).toEqual({
    "cache-control": "no-store",
    "content-type": "text/event-stream",
    "x-qm-upstream-request-id": "req_1",
    "x-should-retry": "false",
  });
});

test.each([
  [[["retry-after", "2"]], "2"],
  [[["retry-after", "1.5"]], "2"],
  [
    [
      ["retry-after", "Wed, 21 Oct 2026 07:28:00 GMT"],
      ["date", "Wed, 21 Oct 2026 07:26:00 GMT"],
    ],
    "120",
  ],
  [[["retry-after", "soon"]], undefined],
  [[], undefined],
] as [[string, string][], string | undefined][])("Retry-After %j is %s seconds", (headers, seconds) => {
  expect(received(headers)["retry-after"]).toBe(seconds);
});

test("upstream's id, of either name; a strange one is not repeated", () => {
  expect(received([["request-id", "req_2"]])["x-qm-upstream-request-id"]).toBe("req_2");
  expect(received([["request-id", "x".repeat(200)]])["x-qm-upstream-request-id"]).toBeUndefined();
});

test.each([
  [
    "a key",
    "Incorrect API key provided: sk-upstream.",
    KEY.secret,
    "Incorrect API key provided: [redacted].",
  ],
  ["each time", "sk-upstream sk-upstream", KEY.secret, "[redacted] [redacted]"],
  ["a token", '{"token":"rt-123456"}', { refresh_token: "rt-123456" }, '{"token":"[redacted]"}'],
  ["a part of a cookie", "bad session abcdefgh", { cookie: "s=abcdefgh; t=1" }, "bad session [redacted]"],
  ["deep in a session", "got abcdefgh", { headers: { a: "Bearer abcdefgh" } }, "got [redacted]"],
  ["too short to be one", "a b c", { headers: { a: "b" } }, "a b c"],
  ["none", "all is well", KEY.secret, "all is well"],
])("case E51: an error that repeats %s says it without", (_, text, secret, clean) => {
  expect(redacted(text, secret)).toBe(clean);
});
