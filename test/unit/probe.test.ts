// Which dialect a free request is in, and whose turn it is: a key sent in a header that its provider does not read, or a
// credential that is never looked at, if these failed.
import { expect, test } from "vitest";
import { dialectFor } from "../../src/gateway/free-request.ts";
import { inTurn } from "../../src/pools/look.ts";

const asked = (provider: string, base_url: string, api_key = "sk-1") => ({
  provider,
  config: { kind: "api_key" as const, models: ["*"] as ["*"], base_url },
  secret: { api_key },
});

test.each([
  ["anthropic", "https://relay.example", "sk-1", "anthropic_messages"],
  ["claude", "https://api.anthropic.com/v1", "sk-1", "anthropic_messages"],
  ["claude", "https://anthropic.com", "sk-1", "anthropic_messages"],
  ["claude", "https://relay.example", "sk-ant-api03-x", "anthropic_messages"],
  ["openai", "https://api.openai.com/v1", "sk-proj-x", "openai_chat"],
  ["claude", "https://notanthropic.com", "sk-1", "openai_chat"],
  ["claude", "https://anthropic.com.example", "sk-1", "openai_chat"],
  ["anthropic2", "https://relay.example", "my-sk-ant-key", "openai_chat"],
])("%s at %s with %s: %s", (provider, base_url, api_key, dialect) => {
  expect(dialectFor(asked(provider, base_url, api_key))).toBe(dialect);
});

const numbers = (n: number) => Array.from({ length: n }, (_, i) => i);

test("a short list is always all of it", () => {
  expect(inTurn(numbers(20), 20, 1e12)).toEqual(numbers(20));
  expect(inTurn([], 20, 1e12)).toEqual([]);
  expect(inTurn(numbers(3), 0, 1e12)).toEqual([]);
});

test.each([21, 25, 40, 399, 1000])("of %i each has its turn, 20 a minute", (n) => {
  const seen = new Set<number>();
  for (let minute = 0; minute < Math.ceil(n / 20) + 1; minute++) {
    const turn = inTurn(numbers(n), 20, 1e12 + minute * 60_000);
    expect(new Set(turn).size).toBe(20);
    for (const one of turn) seen.add(one);
  }
  expect(seen.size).toBe(n);
});
