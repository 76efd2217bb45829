// What an upstream says it counted, as it is priced. Anything doubtful is no usage: the caller then estimates, and says so.
import type { Usage } from "../../catalog/cost.ts";
import type { Dialect } from "./dialect.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Far above what any call can use, far below where prices leave the exact integers. */
const MOST_TOKENS = 1_000_000_000;

const isCount = (value: unknown): value is number =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MOST_TOKENS;

/** A part that need not be said; one that is said, but is no count, makes the whole doubtful. */
const optionalCount = (value: unknown): unknown => value ?? 0;

export const fieldsOf = (value: unknown): Fields =>
  typeof value === "object" && value !== null ? (value as Fields) : {};

/** OpenAI counts the cached ones, and those written to a cache, among the prompt's. */
function including(prompt: unknown, details: Fields, output: unknown): Usage | undefined {
  const cached = optionalCount(details.cached_tokens);
  const written = optionalCount(details.cache_write_tokens);
  if (!isCount(prompt) || !isCount(cached) || !isCount(written) || !isCount(output)) return undefined;
  const cached_input = Math.min(cached, prompt);
  const cache_write = Math.min(written, prompt - cached_input);
  return { input: prompt - cached_input - cache_write, cached_input, cache_write, output };
}

function excluding(fields: Fields): Usage | undefined {
  const { input_tokens: input, output_tokens: output } = fields;
  const cached_input = optionalCount(fields.cache_read_input_tokens);
  const cache_write = optionalCount(fields.cache_creation_input_tokens);
  if (!isCount(input) || !isCount(cached_input) || !isCount(cache_write) || !isCount(output))
    return undefined;
  return { input, cached_input, cache_write, output };
}

const readers: Record<Dialect, (fields: Fields) => Usage | undefined> = {
  openai_chat: (usage) =>
    including(usage.prompt_tokens, fieldsOf(usage.prompt_tokens_details), usage.completion_tokens),
  openai_responses: (usage) =>
    including(usage.input_tokens, fieldsOf(usage.input_tokens_details), usage.output_tokens),
  openai_embeddings: (usage) => including(usage.prompt_tokens, fieldsOf(usage.prompt_tokens_details), 0),
  anthropic_messages: excluding,
};

/** From the value of a `usage` field. No prompt is empty: one of 0 tokens was not counted (yet). */
export function usageOfField(dialect: Dialect, value: unknown): Usage | undefined {
  const usage = readers[dialect](fieldsOf(value));
  return usage && usage.input + usage.cached_input + usage.cache_write > 0 ? usage : undefined;
}

/** From a whole response. */
export const usageOf = (dialect: Dialect, json: unknown) => usageOfField(dialect, fieldsOf(json).usage);

const ANTHROPIC_PROMPT = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"];

/** Anthropic's counts are cumulative, a later one replaces an earlier one; proxies that count only the output send 0 for the prompt. */
export function mergedUsage(earlier: Fields, later: Fields): Fields {
  const counted = ANTHROPIC_PROMPT.some((name) => later[name] !== 0 && (later[name] ?? null) !== null);
  const names = counted ? [...ANTHROPIC_PROMPT, "output_tokens"] : ["output_tokens"];
  const said = names.filter((name) => (later[name] ?? null) !== null);
  return { ...earlier, ...Object.fromEntries(said.map((name) => [name, later[name]])) };
}
