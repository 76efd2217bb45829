// What a call costs: exact, in whole micros, rounded up once.
import type { Price } from "./schema.ts";

/** Tokens of a call as it is priced: `input` without the cached and the newly cached ones. */
export interface Usage {
  readonly input: number;
  readonly cached_input: number;
  readonly cache_write: number;
  readonly output: number;
}

type Rates = Pick<Price, "input" | "cached_input" | "output" | "per_request"> & {
  cache_write?: number | undefined;
};

const PER = 1_000_000n;

/** In micros. BigInt, since a million tokens times a price leaves the exact integers. Throws RangeError above 2^53-1. */
export function costOf(rates: Rates, usage: Usage, requests = 1): number {
  const { cache_write = rates.input } = rates;
  const parts = [
    [usage.input, rates.input],
    [usage.cached_input, rates.cached_input],
    [usage.cache_write, cache_write],
    [usage.output, rates.output],
  ] as const;
  const sum = parts.reduce((all, [tokens, rate]) => all + BigInt(tokens) * BigInt(rate), 0n);
  const cost = (sum + PER - 1n) / PER + BigInt(rates.per_request) * BigInt(requests);
  if (cost > BigInt(Number.MAX_SAFE_INTEGER)) throw new RangeError("a cost above 2^53-1");
  return Number(cost);
}
