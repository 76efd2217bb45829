// The error inside a response of status 200: its kind, never its text.
import type { Facts } from "./facts.ts";
import type { MeteredError } from "./reading.ts";
import { fieldsOf } from "./usage.ts";

/** What an error's type or code looks like; anything else might be a text, and is not kept. */
const WORD = /^[A-Za-z0-9_.-]{1,64}$/;

function wordOf(value: unknown): string | undefined {
  const word = typeof value === "number" ? String(value) : value;
  return typeof word === "string" && WORD.test(word) ? word : undefined;
}

function describe(error: unknown): MeteredError {
  const fields = typeof error === "string" ? { message: error } : fieldsOf(error);
  const [type, code] = [wordOf(fields.type), wordOf(fields.code)];
  const { message } = fields;
  return {
    ...(type !== undefined && type !== "error" && { type }),
    ...(code !== undefined && { code }),
    ...(typeof message === "string" && { message_bytes: new TextEncoder().encode(message).length }),
  };
}

export function errorOf(facts: Facts): MeteredError | undefined {
  const error = facts.error || facts["response.error"];
  if (error) return describe(error);
  const at_top = typeof facts.message === "string" && !facts.choices;
  if (facts.type === "error" || at_top) return describe(facts);
  return facts.type === "response.failed" || facts.status === "failed" ? {} : undefined;
}
