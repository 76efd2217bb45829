// What the gateway must know of a request before it goes upstream. Only that is checked; all else is upstream's business.
import { z } from "zod";
import { fieldsOf } from "../json-text.ts";
import { model } from "../pools/schema.ts";
import type { Dialect } from "./meter/dialect.ts";
import { type Fields, type Prompt, promptOf } from "./prompt.ts";

export interface GatewayRequest extends Prompt {
  /** As the caller writes it, trimmed. */
  readonly model: string;
  readonly stream: boolean;
  /** The most tokens of one answer; undefined: the model's ceiling. */
  readonly max_output: number | undefined;
  /** How many answers. */
  readonly n: number;
  /** The caller itself asked for the usage of the stream. */
  readonly wants_usage: boolean;
}

/** What is not valid, and why. The value is not repeated. */
export interface Fault {
  readonly field: string;
  readonly message: string;
}

const MOST_TOKENS = 10 ** 9;
const MOST_ANSWERS = 128;

const missing = (message: string) => ({
  error: ({ input }: { input?: unknown }) => (input === undefined ? "is required" : message),
});
function whole(most: number) {
  const message = `an integer of 1 to ${most}`;
  return z.int(missing(message)).min(1, message).max(most, message);
}

const name = z.string(missing("a string of 1 to 128 printable characters")).pipe(model);
const tokens = whole(MOST_TOKENS);
const flag = z.boolean("true or false");
/** Where OpenAI's dialects allow null, it means absent. */
const openai = { model: name, stream: flag.nullish() };

const schemas = {
  openai_chat: z.looseObject({
    ...openai,
    max_tokens: tokens.nullish(),
    max_completion_tokens: tokens.nullish(),
    n: whole(MOST_ANSWERS).nullish(),
    stream_options: z.looseObject({ include_usage: flag.nullish() }, "an object").nullish(),
  }),
  openai_responses: z.looseObject({
    ...openai,
    max_output_tokens: tokens.nullish(),
    // Its answer would be fetched later, past the gateway, and nobody would be charged for it.
    background: z.literal(false, "is not supported").nullish(),
  }),
  openai_embeddings: z.looseObject({ model: name }),
  anthropic_messages: z.looseObject({ model: name, stream: flag.optional(), max_tokens: tokens }),
  count_tokens: z.looseObject({ model: name }),
};
type Kind = keyof typeof schemas;

/** The fields that limit an answer; the first that is given counts. None: there is no answer of tokens. */
const LIMITS: Record<Kind, readonly string[]> = {
  openai_chat: ["max_completion_tokens", "max_tokens"],
  openai_responses: ["max_output_tokens"],
  openai_embeddings: [],
  anthropic_messages: ["max_tokens"],
  count_tokens: [],
};

/** Letters of any case are one to some parsers, and two that only Unicode knows count as `s` and `k`. */
const folded = (key: string) => key.toUpperCase().toLowerCase();

/**
 * A field that stands there twice, or in another case: upstream's parser could read the one that was not counted, and so another
 * model, or more tokens than the hold covers.
 */
function ambiguous(text: string, kind: Kind): Fault | undefined {
  const [counted, seen] = [new Set(Object.keys(schemas[kind].shape)), new Set<string>()];
  for (const { name: key } of fieldsOf(text)) {
    const plain = folded(key);
    if (seen.has(plain)) return { field: plain.slice(0, 64), message: "is given more than once" };
    if (counted.has(plain) && key !== plain) return { field: plain, message: "is written in lower case" };
    seen.add(plain);
  }
  return undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function read(kind: Kind, text: string): GatewayRequest | Fault {
  const body = parsed(text);
  if (typeof body !== "object" || body === null || Array.isArray(body))
    return { field: "body", message: "must be a JSON object" };
  const twice = ambiguous(text, kind);
  if (twice) return twice;
  const checked = schemas[kind].safeParse(body);
  if (!checked.success) {
    const [issue] = checked.error.issues;
    return { field: issue?.path.map(String).join(".") || "body", message: issue?.message ?? "is not valid" };
  }
  // A field that the dialect does not know was not checked, and so is not read.
  const known = Object.keys(schemas[kind].shape);
  const given = Object.fromEntries(known.map((key) => [key, (checked.data as Fields)[key]]));
  const [limit] = LIMITS[kind].flatMap((key) => (typeof given[key] === "number" ? [given[key]] : []));
  return {
    model: checked.data.model,
    stream: given.stream === true,
    max_output: LIMITS[kind].length > 0 ? limit : 0,
    n: typeof given.n === "number" ? given.n : 1,
    wants_usage: (given.stream_options as Fields | null | undefined)?.include_usage === true,
    ...promptOf(body as Fields, kind === "openai_embeddings"),
  };
}

export const readRequest = (dialect: Dialect, text: string) => read(dialect, text);

/** Of /v1/messages/count_tokens: no answer, and so no limit of it. */
export const readCountRequest = (text: string) => read("count_tokens", text);
