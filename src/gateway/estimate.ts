// What a call may cost at most, before it is made; and what it did cost, from what the meter read.
import { costOf, type Usage } from "../catalog/cost.ts";
import type { Price } from "../catalog/schema.ts";
import type { Reading } from "./meter/reading.ts";
import type { GatewayRequest } from "./request.ts";

/** What a growing stream holds at first, and the part of it that may be used before it grows. */
const FIRST_OUTPUT = 4_096;
const GROWS_AT = 0.75;

export interface Estimate {
  readonly prompt: number;
  /** The most that all answers may have. */
  readonly output: number;
  /** As much of it as is held now. */
  readonly held_output: number;
  readonly amount: number;
}

/** A prompt may be written to a cache at a price of its own: the hold covers the dearer. */
const bound = (price: Price, prompt: number, output: number) =>
  costOf(
    { ...price, input: Math.max(price.input, price.cache_write ?? 0) },
    { input: prompt, cached_input: 0, cache_write: 0, output },
  );

/** undefined: neither the call nor the catalog says how long an answer may be. Throws RangeError above 2^53-1. */
export function estimateOf(price: Price, request: GatewayRequest, growing: boolean): Estimate | undefined {
  const most = request.max_output ?? price.max_output_tokens;
  if (most === undefined) return undefined;
  const prompt = request.prompt_tokens + request.images * price.per_image_tokens;
  const output = most * request.n;
  const held_output = growing && request.stream ? Math.min(output, FIRST_OUTPUT) : output;
  return { prompt, output, held_output, amount: bound(price, prompt, held_output) };
}

/** The next step of a growing hold, twice as large; undefined while the present one suffices. */
export function grown(price: Price, now: Estimate, delivered_tokens: number): Estimate | undefined {
  if (now.held_output >= now.output || delivered_tokens < GROWS_AT * now.held_output) return undefined;
  const held_output = Math.min(now.output, now.held_output * 2);
  return { ...now, held_output, amount: bound(price, now.prompt, held_output) };
}

export interface Charge {
  readonly amount: number;
  readonly usage: Usage;
  /** Not what upstream counted, but what we did. */
  readonly estimated: boolean;
}

/** Some four bytes a token; the bound that is held reckons with two. */
const likelyPrompt = (prompt: number) => Math.ceil(prompt / 2);

/**
 * What has been used so far. Nothing counted and nothing delivered: undefined, nobody is charged; unless the answer is whole, for
 * then its prompt was read.
 */
export function chargeOf(
  price: Price,
  { prompt }: Estimate,
  reading: Reading,
  whole = false,
): Charge | undefined {
  const { usage, partial_usage, delivered_tokens } = reading;
  if (usage) return { amount: costOf(price, usage), usage, estimated: false };
  if (delivered_tokens === 0 && !whole) return undefined;
  const guess = partial_usage ?? {
    input: likelyPrompt(prompt),
    cached_input: 0,
    cache_write: 0,
    output: delivered_tokens,
  };
  return { amount: costOf(price, guess), usage: guess, estimated: true };
}
