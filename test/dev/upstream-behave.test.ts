// Every failure that the demo upstream can be told to show: the gateway's tests stand on them.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Behave } from "../../dev/upstream/behave.ts";
import { startUpstream, type Upstream } from "../../dev/upstream/server.ts";
import { asker, eventsOf } from "./upstream-kit.ts";

let upstream: Upstream;
beforeAll(async () => {
  upstream = await startUpstream();
});
afterEach(() => upstream.reset());
afterAll(() => upstream.stop());

const ask = asker(() => upstream);
const CHAT = "/v1/chat/completions";
const chat = { model: "demo-chat-1", messages: [{ role: "user", content: "Hi" }], max_tokens: 4 };
const streamed = { ...chat, stream: true, stream_options: { include_usage: true } };

test.each([
  ["rate_limited", 429, "requests", "rate_limit_exceeded", "rate_limit_error"],
  ["insufficient_quota", 429, "insufficient_quota", "insufficient_quota", "rate_limit_error"],
  ["auth_failed", 401, "invalid_request_error", "invalid_api_key", "authentication_error"],
  ["billing", 400, "invalid_request_error", null, "invalid_request_error"],
  ["payment_required", 402, "unknown_error", "invalid_request_error", "billing_error"],
  ["not_found", 404, "invalid_request_error", "model_not_found", "not_found_error"],
  ["bad_request", 400, "invalid_request_error", null, "invalid_request_error"],
  ["server_error", 500, "server_error", null, "api_error"],
  ["unavailable", 503, "server_error", null, "api_error"],
  ["overloaded", 529, "server_error", "overloaded", "overloaded_error"],
] as const)(
  "%s is a %i in both dialects, stream asked or not",
  async (kind, status, type, code, inAnthropic) => {
    upstream.behave({ kind });
    const openai = await ask(CHAT, streamed);
    expect([openai.status, openai.headers.get("retry-after")]).toEqual([status, null]);
    expect(openai.json).toEqual({ error: { message: expect.any(String), type, param: null, code } });
    const anthropic = await ask("/v1/messages", chat);
    expect(anthropic.status).toBe(status);
    expect(anthropic.json).toMatchObject({
      type: "error",
      error: { type: inAnthropic, message: openai.json.error.message },
    });
  },
);

test("Retry-After, status, headers and body are sent as told", async () => {
  upstream.behave({ kind: "unavailable", retry_after: "-5", times: 1 });
  expect((await ask(CHAT, chat)).headers.get("retry-after")).toBe("-5");
  upstream.behave({
    kind: "rate_limited",
    status: 418,
    headers: { date: "Thu, 01 Jan 2026 00:00:00 GMT" },
    times: 1,
  });
  const odd = await ask(CHAT, chat);
  expect([odd.status, odd.headers.get("date")]).toEqual([418, "Thu, 01 Jan 2026 00:00:00 GMT"]);
  upstream.behave({ body: "data:{}\r\n\r\n", headers: { "content-type": "text/event-stream" }, times: 1 });
  expect((await ask(CHAT, chat)).text).toBe("data:{}\r\n\r\n");
  expect((await ask(CHAT, chat)).status).toBe(200);
});

test("a behaviour hits only what matches it, the first one first, its number of times", async () => {
  upstream.behave({ match: { api_key: "sk-demo-2" }, kind: "auth_failed" });
  upstream.behave({ match: { model: "other" }, kind: "not_found" });
  upstream.behave({ match: { path: CHAT }, kind: "server_error", times: 1 });
  upstream.behave({ kind: "overloaded", times: 1 });
  const statuses = [];
  statuses.push((await ask(CHAT, chat, { authorization: "Bearer sk-demo-2" })).status);
  statuses.push((await ask(CHAT, { ...chat, model: "other" })).status);
  for (let i = 0; i < 3; i++) statuses.push((await ask(CHAT, chat)).status);
  expect(statuses).toEqual([401, 404, 500, 529, 200]);
});

test("another process behaves it, reads its calls and resets it", async () => {
  const { url } = upstream;
  const post = (path: string, body: object) =>
    fetch(url + path, { method: "POST", body: JSON.stringify(body) });
  expect((await post("/__behave", { kind: "server_error" })).status).toBe(200);
  expect((await post("/__behave", { kind: "sever_error" })).ok).toBe(false);
  expect((await ask(CHAT, chat)).status).toBe(500);
  const read = async () => (await ask("/__calls", undefined)).json.calls;
  expect(await read()).toMatchObject([
    { method: "POST", path: CHAT, body: JSON.stringify(chat), end: "completed" },
  ]);
  await post("/__reset", {});
  expect(await read()).toEqual([]);
  expect((await ask(CHAT, chat)).status).toBe(200);
});

describe("usage in a stream", () => {
  const ends = async (usage: Behave["usage"]) => {
    upstream.behave({ usage, times: 1 });
    const chunks = eventsOf((await ask(CHAT, streamed)).text);
    return { chunks, last: chunks.at(-1) };
  };
  const counted = { completion_tokens: 4 };

  test("in a last chunk without choices", async () => {
    const { last } = await ends("no_choices");
    expect(last.usage).toMatchObject(counted);
    expect("choices" in last).toBe(false);
  });
  test("in the chunk that finishes", async () => {
    const { last } = await ends("empty_delta");
    expect(last).toMatchObject({ choices: [{ delta: {}, finish_reason: "length" }], usage: counted });
  });
  test("cumulative in every chunk", async () => {
    const { chunks } = await ends("cumulative");
    expect(chunks.map((chunk) => chunk.usage.completion_tokens)).toEqual([0, 1, 2, 3, 4, 4]);
  });
  test("null throughout, or none", async () => {
    const nulls = await ends("null");
    expect(nulls.chunks.every((chunk) => chunk.usage === null)).toBe(true);
    const none = await ends("none");
    expect(none.chunks.some((chunk) => "usage" in chunk)).toBe(false);
  });
  test("stream_options rejected, the call without them fine", async () => {
    upstream.behave({ usage: "rejected" });
    const rejected = await ask(CHAT, streamed);
    expect([rejected.status, rejected.json.error.message]).toEqual([
      400,
      "Unrecognized request argument supplied: stream_options",
    ]);
    expect((await ask(CHAT, { ...chat, stream: true })).status).toBe(200);
  });
  test("cached tokens are a part of the prompt", async () => {
    upstream.behave({ cached_tokens: 1 });
    const messages = [{ role: "user", content: "How many loaves?" }];
    const openai = (await ask(CHAT, { ...chat, messages })).json.usage;
    expect([openai.prompt_tokens, openai.prompt_tokens_details.cached_tokens]).toEqual([4, 1]);
    const anthropic = (await ask("/v1/messages", { ...chat, messages })).json.usage;
    expect([anthropic.input_tokens, anthropic.cache_read_input_tokens]).toEqual([3, 1]);
  });
});

describe("content", () => {
  test("CJK and emoji", async () => {
    upstream.behave({ text: "unicode", output_tokens: 7 });
    const { json } = await ask(CHAT, chat);
    expect(json.choices[0].message.content).toBe("北京的面包 🥖 déjà 👩‍🌾。");
  });
  test("one very large event", async () => {
    upstream.behave({ large_event_bytes: 5_000_000 });
    const { text } = await ask(CHAT, streamed);
    expect(Math.max(...text.split("\n\n").map((each) => each.length))).toBeGreaterThan(5_000_000);
  });
});

test("a redirect, whose target would be seen", async () => {
  upstream.behave({ kind: "redirect" });
  const { status, headers } = await ask(CHAT, chat);
  expect([status, headers.get("location"), upstream.calls.length]).toEqual([307, "/v1/elsewhere", 1]);
});

test("a 200 that is an error: as a body, as an event in each kind of stream", async () => {
  upstream.behave({ kind: "error_body", times: 1 });
  const body = await ask(CHAT, chat);
  expect([body.status, body.json.error.type]).toEqual([200, "server_error"]);
  upstream.behave({ kind: "error_event", after: 3 });
  const openai = eventsOf((await ask(CHAT, streamed)).text);
  expect(openai.length).toBe(4);
  expect(openai.at(-1)).toMatchObject({ error: { type: "server_error" } });
  const anthropic = eventsOf((await ask("/v1/messages", streamed)).text);
  expect(anthropic.at(-1)).toMatchObject({ type: "error", error: { type: "overloaded_error" } });
  const input = { model: "demo-chat-1", input: "Hi", stream: true };
  expect(eventsOf((await ask("/v1/responses", input)).text).at(-1)).toMatchObject({
    type: "error",
    sequence_number: 3,
  });
});
