// LiteLLM's price map (model_prices_and_context_window.json) as prices. What it does not say is not guessed.
import { z } from "zod";
import { model as modelName } from "../pools/schema.ts";
import { type Price, price } from "./schema.ts";

/** Its prices are dollars a token; ours micros per 1,000,000 tokens. */
const SCALE = 1e12;
/** The noise of a product of doubles. */
const NOISE = 1e-6;
const MODES = new Set(["chat", "completion", "embedding", "responses"]);

const cost = z.number().optional();
const entry = z.looseObject({
  litellm_provider: z.string(),
  mode: z.string().optional(),
  input_cost_per_token: cost,
  output_cost_per_token: cost,
  cache_read_input_token_cost: cost,
  cache_creation_input_token_cost: cost,
  input_cost_per_request: cost,
  max_output_tokens: z.unknown().optional(),
});

/** Never too little: what is not whole is rounded up. */
const up = (n: number) => (n < 0 ? n : Math.max(0, Math.ceil(n - NOISE)));
const micros = (dollars: number) => up(dollars * SCALE);
const perRequest = (dollars: number) => up(dollars * 1e6);

/** A price, or why there is none, in one of few words. */
export function readEntry(name: string, given: unknown): Price | string {
  const parsed = entry.safeParse(given);
  if (!parsed.success) return "not an entry of the price map";
  const { litellm_provider: provider, mode = "chat", max_output_tokens, ...costs } = parsed.data;
  if (!MODES.has(mode)) return `mode ${modelName.safeParse(mode).success ? mode : "unknown"}`;
  const {
    input_cost_per_token: input,
    output_cost_per_token: output = mode === "embedding" ? 0 : undefined,
  } = costs;
  if (input === undefined || output === undefined) return "no price per token";
  const { cache_read_input_token_cost: cached = input, cache_creation_input_token_cost: write } = costs;
  const request = costs.input_cost_per_request ?? 0;
  if ([input, output, cached, write ?? 0, request].some((n) => n < 0)) return "a negative price";
  const most = Number(max_output_tokens);
  const made = price.safeParse({
    provider,
    model: name.startsWith(`${provider}/`) ? name.slice(provider.length + 1) : name,
    input: micros(input),
    cached_input: micros(cached),
    output: micros(output),
    per_request: perRequest(request),
    ...(write === undefined ? {} : { cache_write: micros(write) }),
    ...(Number.isInteger(most) && most > 0 ? { max_output_tokens: most } : {}),
  });
  return made.success ? made.data : `${String(made.error.issues[0]?.path[0] ?? "price")} is not valid`;
}
