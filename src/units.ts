// Units on the wire: times in ISO 8601 with milliseconds, durations in seconds, amounts in micros.
import { z } from "@hono/zod-openapi";

export const iso = (time_ms: number) => new Date(time_ms).toISOString();

/** The same for a time that may not be: 0 is none. */
export const isoOrNull = (time_ms: number) => (time_ms > 0 ? iso(time_ms) : null);

/** Whole seconds, rounded up and at least 1: a Retry-After that is not too early. */
export const retrySeconds = (due_in_ms: number) => Math.max(1, Math.ceil(due_in_ms / 1000));

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;

/** Of money on the wire: a whole number of micros, 0 to 2^53-1. Nothing else is taken for one: no text, no -0. */
export const amount = z
  .int()
  .min(0)
  .refine((n) => !Object.is(n, -0), "0 without a sign")
  .meta({ description: "Micros of the deployment's unit of value." });
export const positive = amount.min(1);
