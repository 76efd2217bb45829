// Errors that the upstream makes, and errors inside a stream, as the SDKs raise them: a program that takes half an answer for a
// whole one, or blames its own key, if these failed.
import type Anthropic from "@anthropic-ai/sdk";
import { describe, expect, test } from "vitest";
import { HELLO, useGateway } from "./gateway-kit.ts";
import { patientClients, raised } from "./raised.ts";

const gateway = useGateway({ UPSTREAM_IDLE_MS: "700", UPSTREAM_FIRST_BYTE_MS: "700" });
const { admin } = gateway.worker;
const clients = patientClients(gateway, 0);

const chat = async (more: object = {}) => {
  const stream = await gateway
    .openai()
    .chat.completions.create({ model: "demo-chat", messages: HELLO, stream: true, ...more });
  for await (const _ of stream);
};
const responses = async () => {
  const stream = await gateway.openai().responses.create({ model: "demo-chat", input: "Hi", stream: true });
  const types = [];
  for await (const { type } of stream) types.push(type);
  return types;
};
const message = (more: object = {}) =>
  gateway
    .anthropic()
    .messages.stream({
      model: "demo-claude",
      max_tokens: 100,
      messages: HELLO,
      ...more,
    } as Anthropic.MessageStreamParams)
    .finalMessage();

describe("inside a stream that has begun", () => {
  test("upstream's own error event raises", async () => {
    gateway.upstream.behave({ kind: "error_event", after: 4 });
    const one = await raised(chat());
    expect([one.name, one.type]).toEqual(["APIError", "server_error"]);
    const other = await raised(message());
    expect([other.name, other.type]).toEqual(["APIError", "overloaded_error"]);
  });

  test("upstream goes silent: what we say raises", async () => {
    gateway.upstream.behave({ kind: "stall", after: 4 });
    const one = await raised(chat());
    expect([one.name, one.code]).toEqual(["APIError", "upstream_timeout"]);
    expect(one.message).toContain("the upstream has sent nothing for too long");
    const other = await raised(message());
    expect([other.name, other.type]).toEqual(["APIError", "timeout_error"]);
    await expect(responses()).rejects.toThrow();
  });

  test("funds do not allow more: insufficient_quota raises in mid-stream", async () => {
    for (const model of ["demo-chat", "demo-claude"])
      await gateway.price(model, { max_output_tokens: 50_000 });
    // One event with most of the first step in it, and a pause behind it.
    gateway.upstream.behave({ output_tokens: 2, large_event_bytes: 12_400, delay_ms: 150 });
    const set = () => gateway.ledger.adjust("account", "set", 4_096 * 10 + 1_000);
    await set();
    const one = await raised(chat({ max_tokens: 8_000 }));
    expect([one.name, one.code, one.type]).toEqual(["APIError", "insufficient_quota", "insufficient_quota"]);
    await gateway.ends(1);
    await set();
    const other = await raised(message({ max_tokens: 8_000 }));
    expect([other.name, other.type]).toEqual(["APIError", "billing_error"]);
  });

  test("a stream that is refused raises where it is asked for, like any call", async () => {
    await gateway.ledger.adjust("account", "zero");
    expect((await clients.openai({ stream: true })).code).toBe("insufficient_quota");
    expect((await raised(message())).type).toBe("billing_error");
  });
});

describe("upstream's own refusal of a request passes as upstream says it", () => {
  const said = {
    error: {
      message: "'messages[0].name' is odd",
      type: "odd_error",
      param: "messages[0].name",
      code: "odd",
    },
  };

  test.each([400, 404, 413, 422])("openai, %d", async (status) => {
    const body = JSON.stringify(said);
    gateway.upstream.behave({ status, body, headers: { "content-type": "application/json" } });
    const error = await clients.openai();
    expect([error.status, error.code, error.type, error.param]).toEqual([
      status,
      "odd",
      "odd_error",
      "messages[0].name",
    ]);
    expect(error.request_id).toMatch(/^req_/);
    expect(error.headers.get("x-qm-upstream-request-id")).toBe("req_demo");
    expect((await gateway.ends(1))[0]?.kind).toBe("void");
  });

  test.each([400, 413, 422])("anthropic, %d", async (status) => {
    const error = { type: "invalid_request_error", message: "messages: roles must alternate" };
    const body = JSON.stringify({ type: "error", error });
    gateway.upstream.behave({ status, body, headers: { "content-type": "application/json" } });
    const thrown = await clients.anthropic();
    expect([thrown.status, thrown.type]).toEqual([status, "invalid_request_error"]);
    expect(thrown.message).toContain("roles must alternate");
    expect(thrown.request_id).toMatch(/^req_/);
  });

  test("an odd content type is no problem", async () => {
    gateway.upstream.behave({ status: 400, body: "<h1>Bad</h1>", headers: { "content-type": "text/html" } });
    const reply = await gateway.post("/v1/chat/completions", { model: "demo-chat", messages: HELLO });
    expect([reply.status, await reply.text()]).toEqual([400, "<h1>Bad</h1>"]);
  });
});

describe("a fault of the credential or of upstream is not the caller's", () => {
  const closed = () => admin("PATCH", "/pools/demo/default", { breaker: { mode: "closed" } });

  test.each([
    ["auth_failed", "InternalServerError", 502, /the upstream failed \(401\)/],
    ["payment_required", "InternalServerError", 502, /the upstream failed \(402\)/],
    ["server_error", "InternalServerError", 500, /the upstream failed \(500\)/],
    ["unavailable", "InternalServerError", 503, /the upstream failed \(503\)/],
    ["overloaded", "InternalServerError", 529, /the upstream failed \(529\)/],
    ["hang", "InternalServerError", 504, /did not answer in time/],
    ["rate_limited", "RateLimitError", 429, /the upstream failed \(429\)/],
  ] as const)("%s, on each of two credentials: one error, after both", async (kind, name, status, words) => {
    await closed();
    await gateway.addKey("key_02");
    gateway.upstream.behave({ kind });
    const error = await clients.openai();
    expect([error.name, error.status]).toEqual([name, status]);
    expect(error.message).toMatch(words);
    expect(error.message).not.toMatch(/Incorrect|Balance|Rate limit|engine/);
    expect(gateway.upstream.calls.length).toBe(2);
    expect(await gateway.account()).toMatchObject({ spent: 0 });
  });

  test("an upstream that has no such model: 404, without its words", async () => {
    gateway.upstream.behave({ kind: "not_found" });
    const error = await clients.openai();
    expect([error.name, error.code]).toEqual(["NotFoundError", "model_not_found"]);
    expect(error.message).toContain("the upstream has no such model");
  });
});
