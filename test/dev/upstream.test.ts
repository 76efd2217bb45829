// The demo upstream speaks both dialects: a client written for the real services must not see a difference.
import { afterAll, beforeAll, expect, test } from "vitest";
import { startUpstream, type Upstream } from "../../dev/upstream/server.ts";
import { asker, eventsOf } from "./upstream-kit.ts";

let upstream: Upstream;
beforeAll(async () => {
  upstream = await startUpstream();
});
afterAll(() => upstream.stop());

const ask = asker(() => upstream);
const messages = [{ role: "user", content: "How many loaves?" }];
const chat = { model: "demo-chat-1", messages };
const tool = {
  name: "count",
  parameters: { type: "object", properties: { what: { type: "string" }, days: { type: "integer" } } },
};

test("a chat completion is as long as it may be, and counted", async () => {
  const { status, json } = await ask("/v1/chat/completions", { ...chat, max_tokens: 5 });
  expect(status).toBe(200);
  expect(json).toMatchObject({
    object: "chat.completion",
    model: "demo-chat-1",
    choices: [
      {
        index: 0,
        message: { role: "assistant", content: "every loaf is counted twice" },
        finish_reason: "length",
      },
    ],
    usage: { prompt_tokens: 4, completion_tokens: 5, total_tokens: 9 },
  });
});

test("the same request gets the same bytes, and n choices are n times the tokens", async () => {
  const body = { ...chat, n: 3, max_completion_tokens: 4 };
  const [first, second] = await Promise.all([
    ask("/v1/chat/completions", body),
    ask("/v1/chat/completions", body),
  ]);
  expect(first.text).toBe(second.text);
  expect(first.json.choices.map((choice: { index: number }) => choice.index)).toEqual([0, 1, 2]);
  expect(first.json.usage.completion_tokens).toBe(12);
});

test("a chat stream: role, pieces, finish, usage where asked, [DONE]", async () => {
  const stream_options = { include_usage: true };
  const { headers, text } = await ask("/v1/chat/completions", {
    ...chat,
    max_tokens: 3,
    stream: true,
    stream_options,
  });
  expect(headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
  const chunks = eventsOf(text);
  expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
  expect(chunks.map((chunk) => chunk.choices[0]?.delta)).toEqual([
    { role: "assistant", content: "", refusal: null },
    { content: "every" },
    { content: " loaf" },
    { content: " is" },
    {},
    undefined,
  ]);
  expect(chunks.at(-2)).toMatchObject({ choices: [{ finish_reason: "length" }], usage: null });
  expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: 3 } });

  const plain = eventsOf((await ask("/v1/chat/completions", { ...chat, stream: true })).text);
  expect(plain.some((chunk) => "usage" in chunk)).toBe(false);
});

test("a model with tools calls one, whole and in bits, and not again after its result", async () => {
  const tools = [{ type: "function", function: tool }];
  const { json } = await ask("/v1/chat/completions", { ...chat, tools });
  const [call] = json.choices[0].message.tool_calls;
  expect(json.choices[0].finish_reason).toBe("tool_calls");
  expect(call.function).toEqual({ name: "count", arguments: '{"what":"loaf","days":1}' });

  const chunks = eventsOf((await ask("/v1/chat/completions", { ...chat, tools, stream: true })).text);
  const bits = chunks.map((chunk) => chunk.choices[0].delta.tool_calls?.[0].function.arguments ?? "");
  expect(bits.join("")).toBe(call.function.arguments);

  const answered = [...messages, { role: "tool", tool_call_id: call.id, content: "7" }];
  const after = await ask("/v1/chat/completions", { ...chat, tools, messages: answered });
  expect(after.json.choices[0].finish_reason).toBe("stop");
});

test("responses, whole and streamed, end in the same object", async () => {
  const body = { model: "demo-chat-1", input: "How many loaves?" };
  const { json } = await ask("/v1/responses", body);
  expect(json).toMatchObject({
    object: "response",
    status: "completed",
    output: [{ type: "message", content: [{ type: "output_text" }] }],
  });
  const events = eventsOf((await ask("/v1/responses", { ...body, stream: true })).text);
  expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, i) => i));
  const types = events.map((event) => event.type.replace("response.", ""));
  expect(types.slice(0, 4)).toEqual(["created", "in_progress", "output_item.added", "content_part.added"]);
  expect(types.slice(-4)).toEqual(["output_text.done", "content_part.done", "output_item.done", "completed"]);
  expect(events.at(-1).response.usage).toEqual(json.usage);
  const said = events.filter((event) => event.type === "response.output_text.delta");
  expect(said.map((event) => event.delta).join("")).toBe(json.output[0].content[0].text);
});

test("responses: a limit makes it incomplete, a function is called", async () => {
  const body = { model: "demo-chat-1", input: "Go", max_output_tokens: 16, stream: true };
  const limited = eventsOf((await ask("/v1/responses", body)).text).at(-1);
  expect(limited).toMatchObject({
    type: "response.incomplete",
    response: { incomplete_details: { reason: "max_output_tokens" } },
  });
  const tools = [{ type: "function", ...tool }];
  const events = eventsOf((await ask("/v1/responses", { ...body, tools })).text);
  const done = events.find((event) => event.type === "response.function_call_arguments.done");
  expect(JSON.parse(done.arguments)).toEqual({ what: "loaf", days: 1 });
  expect(events.at(-1).response.output[0]).toMatchObject({ type: "function_call", name: "count" });
});

test("embeddings as numbers and as base64 are the same vectors", async () => {
  const body = { model: "demo-embed-1", input: ["one", "two"], dimensions: 16 };
  const { json } = await ask("/v1/embeddings", body);
  expect(json.data.map((each: { index: number }) => each.index)).toEqual([0, 1]);
  expect(json.usage).toEqual({ prompt_tokens: 2, total_tokens: 2 });
  const packed = (await ask("/v1/embeddings", { ...body, encoding_format: "base64" })).json.data[1].embedding;
  const bytes = Uint8Array.from(Buffer.from(packed, "base64"));
  expect([...new Float32Array(bytes.buffer)]).toEqual(json.data[1].embedding);
});

test("models are listed in the caller's dialect", async () => {
  const openai = await ask("/v1/models", undefined);
  expect(openai.json).toMatchObject({ object: "list", data: [{ id: "demo-chat-1", object: "model" }, {}] });
  const anthropic = await ask("/v1/models", undefined, { "anthropic-version": "2023-06-01" });
  expect(anthropic.json).toMatchObject({ has_more: false, data: [{ type: "model" }, {}] });
});

test("a message, and its tokens counted beforehand", async () => {
  const { json } = await ask("/v1/messages", { ...chat, max_tokens: 2 });
  expect(json).toMatchObject({
    type: "message",
    role: "assistant",
    content: [{ type: "text", text: "every loaf" }],
    stop_reason: "max_tokens",
    usage: { input_tokens: 4, output_tokens: 2, cache_read_input_tokens: 0 },
  });
  expect((await ask("/v1/messages/count_tokens", chat)).json).toEqual({ input_tokens: 4 });
});

test("a message stream: from message_start to message_stop, usage cumulative", async () => {
  const { text } = await ask("/v1/messages", { ...chat, max_tokens: 2, stream: true });
  const events = eventsOf(text);
  expect(events.map((event) => event.type)).toEqual([
    "message_start",
    "content_block_start",
    "ping",
    "content_block_delta",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
  ]);
  expect(text).toMatch(/^event: message_start\ndata: \{/);
  expect(events[0].message).toMatchObject({ content: [], usage: { input_tokens: 4, output_tokens: 1 } });
  expect(events[6]).toMatchObject({ delta: { stop_reason: "max_tokens" }, usage: { output_tokens: 2 } });
});

test("a message with tools streams the input in bits", async () => {
  const tools = [{ name: "count", input_schema: tool.parameters }];
  const body = { ...chat, max_tokens: 100, tools, stream: true };
  const events = eventsOf((await ask("/v1/messages", body)).text);
  expect(events[1].content_block).toMatchObject({ type: "tool_use", name: "count", input: {} });
  const json = events.map((event) => event.delta?.partial_json ?? "").join("");
  expect(JSON.parse(json)).toEqual({ what: "loaf", days: 1 });
  expect(events.at(-2).delta.stop_reason).toBe("tool_use");
});

test("a wrong key and a wrong request are refused in the dialect's shape", async () => {
  const wrong = await ask("/v1/chat/completions", chat, { authorization: "Bearer sk-other" });
  expect([wrong.status, wrong.json.error.code]).toEqual([401, "invalid_api_key"]);
  const none = await ask("/v1/messages", chat, { authorization: "" });
  expect([none.status, none.json.error.type]).toEqual([401, "authentication_error"]);
  const byKey = await ask(
    "/v1/messages",
    { ...chat, max_tokens: 1 },
    { authorization: "", "x-api-key": "sk-demo-1" },
  );
  expect(byKey.status).toBe(200);

  const bad = await ask("/v1/chat/completions", { ...chat, max_tokens: 0 });
  expect([bad.status, bad.json.error.type, bad.json.error.param]).toEqual([
    400,
    "invalid_request_error",
    "max_tokens",
  ]);
  const unlimited = await ask("/v1/messages", chat);
  expect([unlimited.status, unlimited.json.error.type]).toEqual([400, "invalid_request_error"]);
  expect((await ask("/v1/other", {})).status).toBe(404);
});
