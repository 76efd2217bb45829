// Numbers that an upstream says: a call charged with nothing, with nonsense, or twice for its cache, if these failed.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { estimateTokens } from "../../src/gateway/meter/tokens.ts";
import { usageOf } from "../../src/gateway/meter/usage.ts";
import { bodyOf } from "./meter-kit.ts";

const chat = (usage: unknown) => usageOf("openai_chat", { usage });
const anthropic = (usage: unknown) => usageOf("anthropic_messages", { usage });
const row = (input: number, cached_input: number, cache_write: number, output: number) => ({
  input,
  cached_input,
  cache_write,
  output,
});

test.each([
  ["openai_chat", row(3, 1, 0, 5)],
  ["openai_responses", row(3, 1, 0, 5)],
  ["anthropic_messages", row(3, 1, 0, 5)],
  ["openai_embeddings", row(4, 0, 0, 0)],
] as const)("%s: the cached part of a prompt is counted once", (dialect, usage) => {
  expect(usageOf(dialect, JSON.parse(bodyOf(dialect, { cached_tokens: 1 })))).toEqual(usage);
});

const details = (cached_tokens: unknown, cache_write_tokens?: unknown) => ({
  prompt_tokens: 100,
  completion_tokens: 7,
  prompt_tokens_details: { cached_tokens, cache_write_tokens },
});
test.each([
  ["no details", { prompt_tokens: 100, completion_tokens: 7 }, row(100, 0, 0, 7)],
  ["details that are null", { ...details(0), prompt_tokens_details: null }, row(100, 0, 0, 7)],
  ["nothing of the cache in them", details(null), row(100, 0, 0, 7)],
  ["all of it cached", details(100), row(0, 100, 0, 7)],
  ["more cached than there is", details(130), row(0, 100, 0, 7)],
  ["newly cached, as OpenRouter says", details(60, 30), row(10, 60, 30, 7)],
  ["more newly cached than there is", details(60, 90), row(0, 60, 40, 7)],
  ["nothing said", { prompt_tokens: 9, completion_tokens: 0 }, row(9, 0, 0, 0)],
])("OpenAI: %s", (_, usage, expected) => {
  expect(chat(usage)).toEqual(expected);
});

test.each([
  ["no cache", { input_tokens: 10, output_tokens: 3 }, row(10, 0, 0, 3)],
  [
    "caches that are null",
    { input_tokens: 10, output_tokens: 3, cache_read_input_tokens: null },
    row(10, 0, 0, 3),
  ],
  [
    "a cache read and one written, none of them within the input",
    { input_tokens: 10, output_tokens: 3, cache_read_input_tokens: 90, cache_creation_input_tokens: 20 },
    row(10, 90, 20, 3),
  ],
  ["all of it cached", { input_tokens: 0, output_tokens: 3, cache_read_input_tokens: 90 }, row(0, 90, 0, 3)],
])("Anthropic: %s", (_, usage, expected) => {
  expect(anthropic(usage)).toEqual(expected);
});

const DOUBTFUL = [undefined, null, -1, 1.5, 1e12, "12", true, [], {}, Number.NaN, Number.POSITIVE_INFINITY];

describe("doubtful is none: never 0, never a guess", () => {
  test.each(DOUBTFUL)("%s for a count", (count) => {
    expect(chat({ prompt_tokens: count, completion_tokens: 1 })).toBeUndefined();
    expect(chat({ prompt_tokens: 1, completion_tokens: count })).toBeUndefined();
    expect(anthropic({ input_tokens: count, output_tokens: 1 })).toBeUndefined();
    expect(anthropic({ input_tokens: 1, output_tokens: count })).toBeUndefined();
    expect(usageOf("openai_embeddings", { usage: { prompt_tokens: count } })).toBeUndefined();
    expect(usageOf("openai_responses", { usage: { input_tokens: 1, output_tokens: count } })).toBeUndefined();
  });

  test.each(DOUBTFUL.slice(2))("%s for a part that need not be there", (count) => {
    expect(chat(details(count))).toBeUndefined();
    const said = { input_tokens: 1, output_tokens: 1 };
    expect(anthropic({ ...said, cache_read_input_tokens: count })).toBeUndefined();
    expect(anthropic({ ...said, cache_creation_input_tokens: count })).toBeUndefined();
  });

  test("a prompt of 0 tokens was not counted", () => {
    expect(chat({ prompt_tokens: 0, completion_tokens: 9 })).toBeUndefined();
    expect(anthropic({ input_tokens: 0, output_tokens: 9 })).toBeUndefined();
  });

  test("anything else than a response", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("openai_chat", "anthropic_messages", "openai_responses"),
        fc.jsonValue(),
        (dialect, json) => {
          expect(usageOf(dialect, json)).toBeUndefined();
          expect(usageOf(dialect, { usage: json })).toBeUndefined();
        },
      ),
    );
  });
});

describe("the estimate", () => {
  test.each([
    ["", 0],
    ["a", 1],
    ["four", 1],
    ["fours", 2],
    ["é", 1],
    ["北", 2],
    ["北京", 3],
    ["🥖", 2],
    ["a北", 2],
  ])("%j is %i", (text, tokens) => {
    expect(estimateTokens(text)).toBe(tokens);
  });

  test("is ASCII bytes / 4 and other bytes / 2, rounded up once", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const bytes = Buffer.from(text);
        const ascii = bytes.filter((byte) => byte < 0x80).length;
        expect(estimateTokens(text)).toBe(Math.ceil(ascii / 4 + (bytes.length - ascii) / 2));
      }),
    );
  });
});
