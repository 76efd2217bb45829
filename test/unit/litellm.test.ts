// LiteLLM's price map: a model that would be served for too little, or for nothing, if these failed.
import { expect, test } from "vitest";
import { readEntry } from "../../src/catalog/litellm.ts";

const gpt = {
  litellm_provider: "openai",
  mode: "chat",
  input_cost_per_token: 2.5e-6,
  output_cost_per_token: 1e-5,
  cache_read_input_token_cost: 1.25e-6,
  max_output_tokens: 16_384,
  supports_vision: true,
};

test("dollars a token become micros a million tokens", () => {
  expect(readEntry("gpt-4o", gpt)).toEqual({
    provider: "openai",
    model: "gpt-4o",
    input: 2_500_000,
    cached_input: 1_250_000,
    output: 10_000_000,
    per_request: 0,
    per_image_tokens: 1_500,
    aliases: [],
    max_output_tokens: 16_384,
  });
});

test.each([
  ["noise of doubles is none", { input_cost_per_token: 1.1e-7 }, { input: 110_000 }],
  ["what is not whole is rounded up", { input_cost_per_token: 1.5e-13 }, { input: 1 }],
  [
    "cached input without a price costs as input",
    { cache_read_input_token_cost: undefined },
    { cached_input: 2_500_000 },
  ],
  ["a cache write keeps its price", { cache_creation_input_token_cost: 3.75e-6 }, { cache_write: 3_750_000 }],
  ["a price of a request", { input_cost_per_request: 0.005 }, { per_request: 5_000 }],
  ["an embedding has no output", { mode: "embedding", output_cost_per_token: undefined }, { output: 0 }],
])("%s", (_, more, expected) => {
  expect(readEntry("m", { ...gpt, ...more })).toMatchObject(expected);
});

test("a name that begins with its provider is the provider's name for it", () => {
  expect(readEntry("azure/gpt-4o", { ...gpt, litellm_provider: "azure" })).toMatchObject({ model: "gpt-4o" });
});

test.each([
  ["an image model", { mode: "image_generation" }, "mode image_generation"],
  ["no price", { input_cost_per_token: undefined }, "no price per token"],
  ["no output price of a chat model", { output_cost_per_token: undefined }, "no price per token"],
  ["a negative price", { output_cost_per_token: -1e-6 }, "a negative price"],
  ["a price that is text", { input_cost_per_token: "1e-6" }, "not an entry of the price map"],
  ["a price that is absurd", { input_cost_per_token: 5 }, "input is not valid"],
  ["no provider", { litellm_provider: undefined }, "not an entry of the price map"],
  ["a provider that is no id", { litellm_provider: "a b" }, "provider is not valid"],
])("%s is left out, with the reason", (_, more, reason) => {
  expect(readEntry("m", { ...gpt, ...more })).toBe(reason);
});
