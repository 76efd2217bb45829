// What a route of the demo upstream gets and gives.
import type { z } from "zod";
import type { Behaviour } from "./behave.ts";
import { Refusal } from "./errors.ts";

export interface Ask {
  /** The body as text, and parsed. */
  text: string;
  body: unknown;
  behaviour: Behaviour;
}

/** A body, or the events of a stream, each complete. */
export type Reply = { json: unknown } | { events: Iterable<string> };

export function parse<T>(schema: z.ZodType<T>, body: unknown): T {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Refusal("bad_request", issue?.message, issue?.path.join(".") || null);
}

export const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;

export const event = (value: { type: string; [field: string]: unknown }) =>
  `event: ${value.type}\n${data(value)}`;
