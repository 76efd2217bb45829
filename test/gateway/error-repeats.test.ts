// How often an unchanged SDK asks again: a storm on what no repeat can cure, or a user turned away by a busy second, if these failed.
import { describe, expect, test } from "vitest";
import { useGateway } from "./gateway-kit.ts";
import { patientClients } from "./raised.ts";

const gateway = useGateway();
const { admin, redis } = gateway.worker;
const clients = patientClients(gateway);

const nothing = async () => {};
const arrange = {
  "no funds": () => gateway.ledger.adjust("account", "zero"),
  "a frozen tenant": () => admin("PATCH", "/tenants/acme", { status: "frozen" }),
  "a frozen sub-account": () => admin("PATCH", "/tenants/acme/sub-accounts/alice", { status: "frozen" }),
  "a wrong token": async () => {
    gateway.token = `${gateway.token.slice(0, -8)}AAAAAAAA`;
  },
  "an unknown model": nothing,
  "a bad limit": nothing,
  "no credential": () => admin("POST", "/credentials/demo/default/key_01/disable"),
  "a long bench": async () => {
    gateway.upstream.behave({ kind: "rate_limited", retry_after: "900", times: 1 });
    await gateway.post("/v1/messages", { model: "demo-claude", max_tokens: 1, messages: [{ role: "user" }] });
  },
} as const;
const MORE: Partial<Record<keyof typeof arrange, object>> = {
  "an unknown model": { model: "nobody" },
  "a bad limit": { max_tokens: "8000" },
};

/** Why; OpenAI's class, status, code and type; Anthropic's class, status and type; the message's words. */
const FINAL: [keyof typeof arrange, [string, number, string, string], [string, number, string], RegExp][] = [
  [
    "no funds",
    ["RateLimitError", 429, "insufficient_quota", "insufficient_quota"],
    ["PaymentRequiredError", 402, "billing_error"],
    /quota exhausted \(account\).* asked, 0 available/,
  ],
  [
    "a frozen tenant",
    ["PermissionDeniedError", 403, "forbidden", "permission_error"],
    ["PermissionDeniedError", 403, "permission_error"],
    /the tenant is frozen/,
  ],
  [
    "a frozen sub-account",
    ["PermissionDeniedError", 403, "forbidden", "permission_error"],
    ["PermissionDeniedError", 403, "permission_error"],
    /the sub-account is frozen/,
  ],
  [
    "a wrong token",
    ["AuthenticationError", 401, "invalid_api_key", "authentication_error"],
    ["AuthenticationError", 401, "authentication_error"],
    /no such token/,
  ],
  [
    "an unknown model",
    ["NotFoundError", 404, "model_not_found", "not_found_error"],
    ["NotFoundError", 404, "not_found_error"],
    /no such model/,
  ],
  [
    "a bad limit",
    ["BadRequestError", 400, "invalid_request", "invalid_request_error"],
    ["BadRequestError", 400, "invalid_request_error"],
    /max_tokens: an integer of 1 to 1000000000/,
  ],
];

describe("what no repeat can cure is asked once", () => {
  test.each(FINAL)("%s", async (why, [name, status, code, type], anthropic, words) => {
    await arrange[why]();
    const [one, other] = [await clients.openai(MORE[why]), await clients.anthropic(MORE[why])];
    expect([one.name, one.status, one.code, one.type]).toEqual([name, status, code, type]);
    expect([other.name, other.status, other.type]).toEqual(anthropic);
    for (const error of [one, other]) {
      expect(error.message).toMatch(words);
      expect(error.requests).toBe(1);
      expect(error.headers.get("x-should-retry")).toBe("false");
      expect(error.headers.get("retry-after")).toBeNull();
      expect(error.request_id).toMatch(/^req_/);
      expect(error.headers.get("x-qm-request-id")).toBe(error.request_id);
    }
    expect(gateway.upstream.calls.length).toBe(0);
  });

  test("a bench of many minutes: asked once, and the wait is told", async () => {
    await arrange["a long bench"]();
    for (const error of [await clients.openai(), await clients.anthropic()]) {
      expect([error.name, error.status, error.requests]).toEqual(["RateLimitError", 429, 1]);
      expect(error.headers.get("retry-after")).toBe("900");
      expect(error.message).toMatch(/no capacity: rate_limited 1/);
    }
  });
});

describe("what passes with time is asked again", () => {
  test("no credential at the moment", async () => {
    await arrange["no credential"]();
    const [one, other] = await Promise.all([clients.openai(), clients.anthropic()]);
    expect([one.name, one.status, one.code, one.requests]).toEqual(["RateLimitError", 429, "no_capacity", 3]);
    expect([other.name, other.type, other.requests]).toEqual(["RateLimitError", "rate_limit_error", 3]);
    expect(one.headers.get("retry-after")).toMatch(/^[1-5]$/);
  });

  test("the store is out", async () => {
    redis.double.fault({
      kind: "html_500",
      times: 50,
      match: ([name = ""]) => name.toUpperCase() === "EVALSHA",
    });
    const [one, other] = await Promise.all([clients.openai(), clients.anthropic()]);
    redis.double.clearFaults();
    expect([one.name, one.status, one.code, one.requests]).toEqual([
      ...["InternalServerError", 503, "store_unavailable"],
      3,
    ]);
    expect([other.name, other.status, other.type]).toEqual([
      "ServiceUnavailableError",
      503,
      "overloaded_error",
    ]);
    expect(one.headers.get("retry-after")).toBe("1");
    expect(gateway.upstream.calls.length).toBe(0);
  });

  test("every unit is in use: soon, since one may come back at any moment, and the next try is served", async () => {
    await gateway.addKey("key_01", { max_concurrent_uses: 1 });
    gateway.upstream.behave({ delay_ms: 60, output_tokens: 20, times: 1 });
    const first = gateway.post("/v1/chat/completions", {
      ...{ model: "demo-chat", messages: [{ role: "user", content: "Hi" }], stream: true },
    });
    await expect.poll(() => gateway.upstream.calls.length).toBe(1);
    const refused = await patientClients(gateway, 0).openai();
    expect([refused.code, refused.headers.get("retry-after")]).toEqual(["no_capacity", "5"]);
    expect(refused.headers.get("x-should-retry")).toBeNull();
    const waits = gateway.openai({ maxRetries: 2 }).chat.completions;
    const served = waits.create({ model: "demo-chat", messages: [{ role: "user", content: "Hi" }] });
    await (await first).text();
    expect((await served).choices.length).toBe(1);
  });
});
