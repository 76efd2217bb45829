// Usage in a stream: a call billed by a guess, or a client whose bytes were changed, if these failed.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Dialect } from "../../src/gateway/meter/dialect.ts";
import { meterStream, StreamMeter } from "../../src/gateway/meter/stream.ts";
import { estimateTokens } from "../../src/gateway/meter/tokens.ts";
import {
  bytesOf,
  content,
  counted,
  cutAt,
  cutsThatMatter,
  DONE,
  eventsOf,
  pass,
  streamOf,
  usageChunk,
  writings,
} from "./meter-kit.ts";

const STREAMED: Dialect[] = ["openai_chat", "openai_responses", "anthropic_messages"];
const keep = { drop_usage_chunk: false };
const through = (dialect: Dialect, text: string, places: readonly number[] = []) =>
  pass(new StreamMeter(dialect, keep), cutAt(bytesOf(text), places));

/** The prompt is 4 tokens for the demo upstream, and a piece of text one. */
const usage = { input: 3, cached_input: 1, cache_write: 0, output: 5 };
/** Without the events that repeat the whole response, so that every cut can be tried in time. */
const fixture = (dialect: Dialect) =>
  eventsOf(dialect, { text: "unicode", cached_tokens: 1 })
    .filter((event) => !/event: response\.(created|in_progress|.*\.done|content_part)/.test(event))
    .join("");

describe.each(STREAMED)("case E47: %s", (dialect) => {
  test.each(Object.entries(writings))("%s: same bytes and usage at every cut", (_, write) => {
    const text = write(fixture(dialect));
    const whole = through(dialect, text);
    expect(whole.out).toBe(text);
    expect(whole.reading).toMatchObject({ usage, done: true, bytes: bytesOf(text).length });
    expect(cutsThatMatter(() => new StreamMeter(dialect, keep), text)).toEqual([]);
  });

  test("what was delivered is estimated, whatever is said of usage", () => {
    const { reading } = through(dialect, streamOf(dialect, { text: "unicode", usage: "null" }));
    expect(reading).toMatchObject({ delivered_tokens: estimateTokens("北京的面包 🥖 déjà"), done: true });
    expect(reading).not.toHaveProperty("usage");
    expect(reading).not.toHaveProperty("partial_usage");
  });
});

test("cut at random places, with random line ends, a stream says the same", () => {
  const [whole] = STREAMED.map((dialect) => through(dialect, fixture(dialect)).reading);
  const text = fixture("openai_chat");
  fc.assert(
    fc.property(
      fc.array(fc.nat(bytesOf(text).length)),
      fc.constantFrom("\n", "\r\n", "\r"),
      (places, end) => {
        const written = text.replaceAll("\n", end);
        const { out, reading } = through("openai_chat", written, places);
        expect(out).toBe(written);
        expect(reading).toEqual({ ...whole, bytes: bytesOf(written).length });
      },
    ),
  );
});

describe("case E46: where a chat stream says its usage", () => {
  test.each([
    ["in a last chunk without choices in it", {}],
    ["in one without the field choices", { usage: "no_choices" }],
    ["with an empty delta", { usage: "empty_delta" }],
  ] as const)("%s", (_, behave) => {
    expect(through("openai_chat", streamOf("openai_chat", behave)).reading.usage).toEqual({
      input: 4,
      cached_input: 0,
      cache_write: 0,
      output: 5,
    });
  });

  test.each(["null", "none"] as const)("%s: none, and none is invented", (form) => {
    const { reading } = through("openai_chat", streamOf("openai_chat", { usage: form }));
    expect([reading.usage, reading.partial_usage]).toEqual([undefined, undefined]);
  });

  test("cumulative: the last counts, and is never added to those before", () => {
    const text = content("a", { usage: counted(4, 1) }) + content("b", { usage: counted(4, 2) }) + DONE;
    expect(through("openai_chat", text).reading.usage).toMatchObject({ input: 4, output: 2 });
    expect(through("openai_chat", text + content("c", { usage: null })).reading).toMatchObject({
      partial_usage: { input: 4, output: 3 },
    });
  });

  test("a null after it does not undo it", () => {
    const text = usageChunk + content("", { usage: null }) + DONE;
    expect(through("openai_chat", text).reading.usage).toMatchObject({ input: 7, output: 3 });
  });
});

describe("case E45: a stream that ends early", () => {
  test("Anthropic's first count is not taken for the whole: the prompt as said, the output as delivered", () => {
    const events = eventsOf("anthropic_messages", { output_tokens: 40 }).slice(0, -3);
    const { reading } = through("anthropic_messages", events.join(""));
    expect(reading).toMatchObject({
      done: false,
      partial_usage: { input: 4, output: reading.delivered_tokens },
    });
    expect(reading.delivered_tokens).toBeGreaterThan(40);
    expect(reading).not.toHaveProperty("usage");
  });

  test("Anthropic's last count is, although the end did not come", () => {
    const events = eventsOf("anthropic_messages").slice(0, -1);
    expect(through("anthropic_messages", events.join("")).reading).toMatchObject({
      done: false,
      usage: { input: 4, output: 5 },
    });
  });

  test("before the first event nothing is said and nothing delivered", () => {
    const empty = { delivered_tokens: 0, done: false, events: 0, bytes: 0 };
    expect(new StreamMeter("openai_chat", keep).reading()).toEqual(empty);
  });

  test("an event that is cut off counts as far as its text came", () => {
    const [whole_text] = content("twelve bytes, and more").split(", and more");
    const { reading } = through("openai_chat", String(whole_text));
    expect(reading).toMatchObject({ delivered_tokens: 3, events: 1 });
  });
});

describe("Anthropic's counts replace each other field by field", () => {
  const start = {
    input_tokens: 90,
    cache_read_input_tokens: 5,
    cache_creation_input_tokens: 2,
    output_tokens: 1,
  };
  const stream = (first: object, ...later: object[]) =>
    [
      { type: "message_start", message: { usage: first } },
      ...later.map((said) => ({ type: "message_delta", delta: {}, usage: said })),
    ]
      .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
      .join("");
  test.each([
    ["only the output", start, [{ output_tokens: 9 }], [90, 5, 2, 9]],
    ["null for the rest", start, [{ output_tokens: 9, input_tokens: null }], [90, 5, 2, 9]],
    [
      "all of them",
      start,
      [{ ...start, input_tokens: 10, cache_read_input_tokens: 85, output_tokens: 9 }],
      [10, 85, 2, 9],
    ],
    ["several, never added", start, [{ output_tokens: 9 }, { output_tokens: 12 }], [90, 5, 2, 12]],
    ["0 for the prompt, as some proxies say", start, [{ input_tokens: 0, output_tokens: 9 }], [90, 5, 2, 9]],
    [
      "the prompt only at the end",
      { input_tokens: 0, output_tokens: 0 },
      [{ input_tokens: 11, output_tokens: 5 }],
      [11, 0, 0, 5],
    ],
  ])("%s", (_, first, later, [input, cached_input, cache_write, output]) => {
    const { reading } = through("anthropic_messages", stream(first, ...later));
    expect(reading.usage).toEqual({ input, cached_input, cache_write, output });
  });
});

test("bytes go on at once, at the reader's pace, and a dropped reader ends the meter", async () => {
  const { transform, reading } = meterStream("openai_chat", { drop_usage_chunk: true });
  const writer = transform.writable.getWriter();
  const reader = transform.readable.getReader();
  const first = bytesOf(content("北"));
  const written = writer.write(first);
  expect((await reader.read()).value).toEqual(first);
  await written;
  expect(reading()).toMatchObject({ delivered_tokens: 2, events: 1 });
  const unread = expect(writer.write(first)).rejects.toBe("left");
  expect(writer.desiredSize).toBe(0); // nobody reads: nothing more is asked of the upstream
  await reader.cancel("left");
  await unread;
  expect(reading().events).toBe(1);
});
