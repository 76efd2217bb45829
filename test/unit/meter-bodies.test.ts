// Usage and errors in whole bodies and in events: a call without a bill, or a failure taken for an answer, if these failed.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { errorReply, Refusal } from "../../dev/upstream/errors.ts";
import { BodyMeter } from "../../src/gateway/meter/body.ts";
import type { Dialect } from "../../src/gateway/meter/dialect.ts";
import { StreamMeter } from "../../src/gateway/meter/stream.ts";
import { estimateTokens } from "../../src/gateway/meter/tokens.ts";
import { usageOf } from "../../src/gateway/meter/usage.ts";
import { bodyOf, bytesOf, content, cutAt, cutsThatMatter, DONE, pass, streamOf } from "./meter-kit.ts";

const DIALECTS: Dialect[] = ["openai_chat", "openai_responses", "openai_embeddings", "anthropic_messages"];
const PROSE = DIALECTS.filter((dialect) => dialect !== "openai_embeddings");
const schema = { type: "object", properties: { n: { type: "integer" } } };
const tools = {
  openai_chat: [{ type: "function", function: { name: "bake", parameters: schema } }],
  openai_responses: [{ type: "function", name: "bake", parameters: schema }],
  anthropic_messages: [{ name: "bake", input_schema: schema }],
  openai_embeddings: [],
};
const body = (dialect: Dialect, text: string) => pass(new BodyMeter(dialect), [bytesOf(text)]);
const stream = (dialect: Dialect, text: string) =>
  pass(new StreamMeter(dialect, { drop_usage_chunk: true }), [bytesOf(text)]);

describe.each(DIALECTS)("a body of %s", (dialect) => {
  const text = bodyOf(dialect, { text: "unicode", cached_tokens: 1 });

  test("says its usage as JSON.parse would, cut anywhere, and passes unchanged", () => {
    const { out, reading } = body(dialect, text);
    expect(out).toBe(text);
    expect(reading).toMatchObject({ usage: usageOf(dialect, JSON.parse(text)), done: true, events: 0 });
    expect(reading.usage).toBeDefined();
    expect(cutsThatMatter(() => new BodyMeter(dialect), text)).toEqual([]);
  });

  test("written with spaces and lines, and with a byte order mark", () => {
    const written = `\uFEFF\r\n${JSON.stringify(JSON.parse(text), null, 2)}\n`;
    const { bytes, ...rest } = body(dialect, text).reading;
    expect(body(dialect, written).reading).toEqual({ ...rest, bytes: bytesOf(written).length });
  });

  test.each(["null", "none"] as const)("usage %s: none", (usage) => {
    const { usage: _, ...rest } = JSON.parse(text);
    const without = usage === "null" ? { ...rest, usage: null } : rest;
    expect(body(dialect, JSON.stringify(without)).reading).not.toHaveProperty("usage");
  });
});

test.each(PROSE)("%s: the text of a body is estimated, that of its frame is not", (dialect) => {
  const { reading } = body(dialect, bodyOf(dialect, { text: "unicode" }));
  expect(reading.delivered_tokens).toBe(estimateTokens("北京的面包 🥖 déjà"));
});

test.each(PROSE)("%s: so are a tool's name and arguments, in a body and in a stream", (dialect) => {
  const more = { tools: tools[dialect] };
  const delivered_tokens = estimateTokens('bake{"n":1}');
  expect(body(dialect, bodyOf(dialect, {}, more)).reading).toMatchObject({ delivered_tokens });
  expect(stream(dialect, streamOf(dialect, { usage: "null" }, more)).reading).toMatchObject({
    delivered_tokens,
  });
});

test.each([
  ["thought", undefined, 2],
  [undefined, "thought", 2],
  ["thought", "thought", 2],
  ["", "thought", 2],
  ["thought", "thought again", 4],
])(
  "reasoning %j and reasoning_content %j are one text, which counts once",
  (reasoning, reasoning_content, tokens) => {
    const [once, ...more] = [
      { delta: { reasoning, reasoning_content } },
      { delta: { content: "sixteen letters." } },
    ];
    const text = `data: ${JSON.stringify({ choices: [once, ...more] })}\n\n`;
    expect(stream("openai_chat", text).reading.delivered_tokens).toBe(tokens + 4);
  },
);

test("an escaped text weighs what it says", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      const ascii = JSON.stringify(text).replace(
        /[^ -~]/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
      );
      const { reading } = stream(
        "openai_chat",
        content("@").replace('"@"', () => ascii),
      );
      expect(reading.delivered_tokens).toBe(estimateTokens(text));
    }),
  );
});

test("a client that leaves in the middle of a body has had its first half", () => {
  const meter = new BodyMeter("openai_chat");
  meter.push(bytesOf('{"choices":[{"message":{"content":"eight by'));
  expect(meter.reading()).toMatchObject({ delivered_tokens: 2, done: false });
});

test("a body of 20 MB is read in pieces, and its usage found before and after the text", () => {
  const piece = bytesOf("x".repeat(1_000_000));
  const usage = '"usage":{"prompt_tokens":7,"completion_tokens":3}';
  for (const [before, after] of [
    [`${usage},`, ""],
    ["", `,${usage}`],
  ]) {
    const meter = new BodyMeter("openai_chat");
    meter.push(bytesOf(`{${before}"choices":[{"message":{"content":"`));
    for (let i = 0; i < 20; i++) expect(meter.push(piece)).toBe(piece);
    meter.push(bytesOf(`"}}]${after}}`));
    expect(meter.reading()).toMatchObject({ delivered_tokens: 5_000_000, done: true });
    expect(meter.reading().usage).toMatchObject({ input: 7, output: 3 });
  }
});

describe("an error inside a 200 is noticed, and its text is not kept", () => {
  const error = { message: "secret 北", type: "server_error", code: "overloaded" };
  const known = { type: "server_error", code: "overloaded", message_bytes: 10 };
  const data = (value: object) => `data: ${JSON.stringify(value)}\n\n`;
  test.each<[string, Dialect, string, object]>([
    ["OpenAI's", "openai_chat", data({ error }), known],
    ["with a number for a code", "openai_chat", data({ error: { code: 502 } }), { code: "502" }],
    ["that is a text", "openai_chat", data({ error: "oh" }), { message_bytes: 2 }],
    ["beside a choice", "openai_chat", content("", { error }), known],
    ["at the top", "openai_chat", data({ object: "error", ...error }), known],
    ["named by its event only", "openai_chat", "event: error\ndata: oh\n\n", {}],
    ["with a text for a code", "openai_chat", data({ error: { code: "key sk-1 is bad" } }), {}],
    ["too large to read", "openai_chat", data({ error: { message: "x".repeat(20_000) } }), {}],
    ["Anthropic's", "anthropic_messages", data({ type: "error", error }), known],
    [
      "of responses",
      "openai_responses",
      data({ ...error, type: "error" }),
      { code: "overloaded", message_bytes: 10 },
    ],
    [
      "of a failed response",
      "openai_responses",
      data({ type: "response.failed", response: { error } }),
      known,
    ],
    ["of one that does not say why", "openai_responses", data({ type: "response.failed", response: {} }), {}],
  ])("%s", (_, dialect, text, expected) => {
    const { out, reading } = stream(dialect, text);
    expect(out).toBe(text);
    expect(reading.error).toEqual(expected);
    expect(JSON.stringify(reading)).not.toMatch(/secret|sk-1/);
  });

  test.each(DIALECTS)("in a body of %s", (dialect) => {
    const spoken = dialect === "anthropic_messages" ? "anthropic" : "openai";
    const { json } = errorReply(spoken, new Refusal("overloaded", "secret"));
    const { reading } = body(dialect, JSON.stringify(json));
    expect(reading).toMatchObject({ error: { message_bytes: 6 }, done: true });
    expect(reading).not.toHaveProperty("usage");
  });

  test("a failed response as a body", () => {
    expect(body("openai_responses", '{"status":"failed","error":null}').reading.error).toEqual({});
  });

  test.each([
    ["null", content("a", { error: null })],
    ["a word in the text", content('{"error":{"message":"x"}}')],
    ["no error at all", DONE],
  ])("%s is none", (_, text) => {
    expect(stream("openai_chat", text).reading).not.toHaveProperty("error");
  });
});

test.each(DIALECTS)("%s: what is no JSON passes and says nothing", (dialect) => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.array(fc.nat(299)), (bytes, places) => {
      const cuts = places.filter((place) => place < bytes.length);
      for (const meter of [new BodyMeter(dialect), new StreamMeter(dialect, { drop_usage_chunk: true })]) {
        const parts = [...cutAt(bytes, cuts).map((piece) => meter.push(piece)), meter.end()];
        expect(Buffer.concat(parts.filter((part) => part !== undefined))).toEqual(Buffer.from(bytes));
        expect(meter.reading()).toMatchObject({ bytes: bytes.length, delivered_tokens: 0 });
      }
    }),
  );
});
