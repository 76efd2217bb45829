// The usage chunk that we asked for and the client did not: a client that breaks on it, or misses another, if these failed.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { StreamMeter } from "../../src/gateway/meter/stream.ts";
import {
  bytesOf,
  chunk,
  content,
  counted,
  cutAt,
  cutsThatMatter,
  DONE,
  pass,
  streamOf,
  textOf,
  usageChunk,
  writings,
} from "./meter-kit.ts";

const dropping = () => new StreamMeter("openai_chat", { drop_usage_chunk: true });
const through = (text: string, places: readonly number[] = []) =>
  pass(dropping(), cutAt(bytesOf(text), places));

describe("case E46: dropped whole, wherever the stream is cut, and nothing else", () => {
  test.each(Object.entries(writings))("%s", (_, write) => {
    const [before, after] = [content("北") + content(" 🥖"), content("") + DONE];
    const text = write(before + usageChunk + after);
    const { out, reading } = through(text);
    const squeezed = (lines: string) => lines.replace(/\n{3,}/g, "\n\n"); // those in between belong to no event
    expect(squeezed(out)).toBe(squeezed(write(before + after)));
    expect(out).not.toMatch(/usage/);
    expect(reading).toMatchObject({ usage: { input: 7, output: 3 }, done: true, events: 5 });
    expect(cutsThatMatter(dropping, text)).toEqual([]);
  });

  test.each([
    ["the last event, with its end", usageChunk, ""],
    ["the last event, without it", usageChunk.trimEnd(), ""],
    ["one without choices", chunk({ usage: counted(7, 3) }), ""],
    ["two in a row", usageChunk + usageChunk + DONE, DONE],
    ["at the beginning", usageChunk + content("a"), content("a")],
    ["between CRLF", `${usageChunk}${DONE}`.replaceAll("\n", "\r\n"), "data: [DONE]\r\n\r\n"],
  ])("%s", (_, text, out) => {
    expect(through(text).out).toBe(out);
    expect(cutsThatMatter(dropping, text)).toEqual([]);
  });
});

describe("what looks like it goes on to the client", () => {
  test.each([
    ["usage with a choice", chunk({ choices: [{ index: 0, delta: {} }], usage: counted(7, 3) })],
    ["no usage: a content filter's chunk", chunk({ choices: [], prompt_filter_results: [{}] })],
    ["usage that is null", chunk({ choices: [], usage: null })],
    ["an error with usage", chunk({ choices: [], usage: counted(7, 3), error: { code: 502 } })],
    ["usage within the content", content('{"choices":[],"usage":{"prompt_tokens":1}}')],
    ["text, not JSON", 'data: the usage:{"choices":[],"usage":{}}\n\n'],
    ["JSON that breaks off", usageChunk.replace("}}\n", "}\n")],
    ["the end in the same event", 'data: {"choices":[],"usage":{}}\ndata: [DONE]\n\n'],
    ["lines without an empty one between", `${content("a").trimEnd()}\n${usageChunk}`],
    ["a comment", ": keep-alive\n\n"],
    ["nothing at all", "\n\r\n\r\r\n"],
    ["a field of another kind", "id: 1\n\n"],
  ])("%s", (_, text) => {
    expect(through(text).out).toBe(text);
    expect(cutsThatMatter(dropping, text)).toEqual([]);
  });

  test("a client that asked for it gets it", () => {
    const text = streamOf("openai_chat");
    const meter = new StreamMeter("openai_chat", { drop_usage_chunk: false });
    expect(pass(meter, [bytesOf(text)]).out).toBe(text);
  });

  test("other dialects have no such chunk", () => {
    const meter = new StreamMeter("openai_responses", { drop_usage_chunk: true });
    expect(pass(meter, [bytesOf(usageChunk)]).out).toBe(usageChunk);
  });
});

test("random streams cut at random lose the usage chunks and nothing else", () => {
  const event = fc.oneof(
    fc.string({ unit: "grapheme" }).map((text) => content(text)),
    fc.constant(usageChunk),
    fc.constantFrom(DONE, ": ping\n\n", "data: {oops\n\n", "\n", chunk({ choices: [], usage: null })),
  );
  fc.assert(
    fc.property(
      fc.array(event),
      fc.array(fc.nat(2000)),
      fc.constantFrom("\n", "\r\n", "\r"),
      (events, places, end) => {
        const written = events.map((each) => each.replaceAll("\n", end));
        const usage = usageChunk.replaceAll("\n", end);
        const text = written.join("");
        const cuts = places.filter((place) => place < bytesOf(text).length);
        expect(through(text, cuts).out).toBe(written.filter((each) => each !== usage).join(""));
      },
    ),
  );
});

describe("an event waits no longer than it must", () => {
  test("text goes on as soon as its chunk has a choice, without the event's end", () => {
    const meter = dropping();
    expect(meter.push(bytesOf('data: {"id":"c","choices":['))).toBeUndefined();
    expect(textOf(meter.push(bytesOf('{"delta":{"content":"a')) ?? new Uint8Array())).toBe(
      'data: {"id":"c","choices":[{"delta":{"content":"a',
    );
    expect(textOf(meter.push(bytesOf('b"')) ?? new Uint8Array())).toBe('b"');
  });

  test("whole events go on as they came, uncopied", () => {
    const [meter, bytes] = [dropping(), bytesOf(content("a") + content("b"))];
    expect(meter.push(bytes)).toBe(bytes);
  });

  test("case E47: one event of 5 MB is not kept: at most 64 kB wait, then all goes on", () => {
    const meter = dropping();
    const bytes = bytesOf(chunk({ padding: "x".repeat(5_000_000), usage: counted(7, 3), choices: [] }));
    let [most, given, sent] = [0, 0, 0];
    for (let at = 0; at < bytes.length; at += 10_000) {
      const piece = bytes.slice(at, at + 10_000);
      given += piece.length;
      sent += meter.push(piece)?.length ?? 0;
      most = Math.max(most, given - sent);
    }
    expect(most).toBeLessThanOrEqual(65_536);
    expect(sent).toBe(bytes.length);
    expect(meter.reading().usage).toMatchObject({ input: 7, output: 3 });
  });
});
