// Errors that come with status 200, and how long upstream asks to wait: paid failures, or a hot loop, if these failed.
import { expect, test } from "vitest";
import { classify, classifyWords } from "../../src/gateway/classify.ts";
import type { Dialect } from "../../src/gateway/meter/dialect.ts";

const verdict = (dialect: Dialect, status: number, body: unknown) => {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const { outcome, retry } = classify(dialect, { status, headers: new Headers(), body: text });
  return `${outcome} ${retry}`;
};
const error = (message: string, type = "invalid_request_error") => ({ error: { message, type, code: null } });
const claude = (type: string) => ({ type: "error", error: { type, message: "x" } });

test.each<[string, Dialect, unknown, string]>([
  ["an answer", "openai_chat", { choices: [], usage: {} }, "success no"],
  ["an answer of Responses", "openai_responses", { status: "completed", error: null }, "success no"],
  ["a message", "anthropic_messages", { type: "message", content: [] }, "success no"],
  ["a stream", "openai_chat", "data: {}\n\n", "success no"],
  ["what was left out", "openai_chat", "", "success no"],
  ["a failure", "openai_chat", error("x", "server_error"), "upstream_error next_credential"],
  ["a failure of no known kind", "openai_chat", error("x", "constructor"), "upstream_error next_credential"],
  ["funds", "openai_chat", error("x", "insufficient_quota"), "exhausted next_credential"],
  [
    "OpenRouter's limit",
    "openai_chat",
    { error: { code: 429, message: "x" } },
    "rate_limited next_credential",
  ],
  ["a refusal", "openai_chat", error("x"), "client_error no"],
  [
    "a failed response",
    "openai_responses",
    { error: { code: "rate_limit_exceeded", message: "x" } },
    "rate_limited next_credential",
  ],
  [
    "one in an event",
    "openai_responses",
    { response: { error: { code: "server_error" } } },
    "upstream_error next_credential",
  ],
  [
    "an event of its own",
    "openai_responses",
    { type: "error", code: "server_error", message: "x" },
    "upstream_error next_credential",
  ],
  ["an overload", "anthropic_messages", claude("overloaded_error"), "upstream_error next_credential"],
  ["a limit", "anthropic_messages", claude("rate_limit_error"), "rate_limited next_credential"],
])("inside a 200: %s", (_, dialect, body, expected) => {
  expect(verdict(dialect, 200, body)).toBe(expected);
});

test("an error in a stream, of which only the words are kept", () => {
  expect(classifyWords("anthropic_messages", { type: "overloaded_error" })).toMatchObject({
    outcome: "upstream_error",
  });
  expect(classifyWords("openai_chat", { type: "insufficient_quota" })).toMatchObject({
    outcome: "exhausted",
  });
  expect(classifyWords("openai_chat", {})).toMatchObject({ outcome: "upstream_error" });
});

test("case B14: how long upstream asks to wait comes with the verdict", () => {
  const headers = (retry: string) => new Headers({ "retry-after": retry });
  const of = (retry: string) => classify("openai_chat", { status: 503, headers: headers(retry), body: "" });
  expect(of("2")).toEqual({ outcome: "upstream_error", retry: "next_credential", retry_after_ms: 2000 });
  expect(of("-5")).toEqual({ outcome: "upstream_error", retry: "next_credential" });
});
