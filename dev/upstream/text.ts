// What the demo upstream says and how it counts: the same request always gets the same words.
import { createHash } from "node:crypto";
import type { Behaviour } from "./behave.ts";

const words =
  "every loaf is counted twice and the ration book is kept in ink so that nobody goes short at the end of the week";
const pieces = {
  plain: words.split(" ").map((word) => ` ${word}`),
  unicode: ["北京", "的", "面包", " 🥖", " déjà", " 👩‍🌾", "。"],
};

const DEFAULT_TOKENS = 24;
const MOST_TOKENS = 256;

export const tokensOf = (text: string) => Math.ceil(Buffer.byteLength(text) / 4);

/** The strings of a message, a list of messages or a tool, without the names that only say their form. */
export function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null) return "";
  return Object.entries(value)
    .map(([key, inner]) => (["type", "role", "id"].includes(key) ? "" : textOf(inner)))
    .join("");
}

export interface Answer {
  /** One piece is one token and one event. */
  pieces: string[];
  tokens: number;
  /** It stopped because of the caller's limit. */
  limited: boolean;
}

export function answer(limit: number | null | undefined, behaviour: Behaviour): Answer {
  const length = behaviour.output_tokens ?? Math.min(limit ?? DEFAULT_TOKENS, MOST_TOKENS);
  const from = pieces[behaviour.text];
  const said = Array.from({ length }, (_, i) => from[i % from.length] ?? "");
  if (said[0] !== undefined) said[0] = said[0].trimStart();
  if (behaviour.large_event_bytes > 0) said.push("x".repeat(behaviour.large_event_bytes));
  const tokens = length + Math.ceil(behaviour.large_event_bytes / 4);
  return { pieces: said, tokens, limited: limit === length };
}

/** Arguments that satisfy the usual JSON schema of a tool. */
export function sample(schema: unknown): unknown {
  const { type, properties, enum: values } = (schema ?? {}) as Record<string, unknown>;
  if (Array.isArray(values)) return values[0];
  if (type === "string") return words.split(" ")[1];
  if (type === "integer" || type === "number") return 1;
  if (type === "boolean") return true;
  if (type === "array") return [];
  return Object.fromEntries(Object.entries(properties ?? {}).map(([name, inner]) => [name, sample(inner)]));
}

/** The JSON of a tool's arguments in the bits in which a stream delivers it. */
export const bits = (json: string) => json.match(/.{1,8}/gsu) ?? [];

export const idOf = (body: string) => createHash("sha256").update(body).digest("hex").slice(0, 24);

/** A constant, so that the same request gets the same bytes. */
export const CREATED = 1_767_225_600;
