// The demo upstream breaks off as real ones do, and records who left first.
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { startUpstream, type Upstream } from "../../dev/upstream/server.ts";
import { eventsOf } from "./upstream-kit.ts";

let upstream: Upstream;
beforeAll(async () => {
  upstream = await startUpstream();
});
afterEach(() => upstream.reset());
afterAll(() => upstream.stop());

const CHAT = "/v1/chat/completions";
const chat = { model: "demo-chat-1", messages: [{ role: "user", content: "Hi" }], max_tokens: 4 };
const streamed = { ...chat, stream: true };

/** What arrives until the connection ends, or for as long as told. */
async function read(body: object, ms = 5_000) {
  const signal = AbortSignal.timeout(ms);
  const headers = { authorization: "Bearer sk-demo-1" };
  let text = "";
  try {
    const response = await fetch(upstream.url + CHAT, {
      method: "POST",
      headers,
      signal,
      body: JSON.stringify(body),
    });
    for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString();
    return { text, failure: undefined };
  } catch (error) {
    return { text, failure: (error as Error).name };
  }
}
const end = async () => {
  for (let i = 0; i < 50 && upstream.calls[0]?.end === "open"; i++) await sleep(10);
  return upstream.calls[0]?.end;
};

test("hangs before the first byte, until the caller leaves", async () => {
  upstream.behave({ kind: "hang" });
  expect(await read(streamed, 100)).toEqual({ text: "", failure: "TimeoutError" });
  expect(await end()).toBe("aborted");
});

test("resets before the first byte", async () => {
  upstream.behave({ kind: "reset" });
  expect(await read(streamed)).toEqual({ text: "", failure: "TypeError" });
  expect(await end()).toBe("broken");
});

test("resets in mid-stream, after the events arrived", async () => {
  upstream.behave({ kind: "reset_midstream", after: 3 });
  const { text, failure } = await read(streamed);
  expect([eventsOf(text).length, failure, await end()]).toEqual([3, "TypeError", "broken"]);
});

test("resets in the middle of a JSON body", async () => {
  upstream.behave({ kind: "reset_midstream", after: 1 });
  const { text, failure } = await read(chat);
  expect([text.length > 20, failure]).toEqual([true, "TypeError"]);
});

test("stalls in mid-stream, until the caller leaves", async () => {
  upstream.behave({ kind: "stall", after: 2 });
  const { text, failure } = await read(streamed, 150);
  expect([eventsOf(text).length, failure, await end()]).toEqual([2, "TimeoutError", "aborted"]);
});

test("ends early but properly", async () => {
  upstream.behave({ kind: "cut", after: 2 });
  const { text, failure } = await read(streamed);
  expect([eventsOf(text).length, text.includes("[DONE]"), failure]).toEqual([2, false, undefined]);
});

test("is slow, and sees the caller leave", async () => {
  upstream.behave({ delay_ms: 20, output_tokens: 50 });
  const { text } = await read(streamed, 150);
  expect(eventsOf(text).length).toBeGreaterThan(0);
  expect(await end()).toBe("aborted");
  expect(upstream.calls[0]?.events).toBeLessThan(20);
});
