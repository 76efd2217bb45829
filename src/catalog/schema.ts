// Prices and routes of models on the wire and at rest.
import { z } from "@hono/zod-openapi";
import { id } from "../ids.ts";
import { model } from "../pools/schema.ts";

/** A dollar a token. */
const MOST_RATE = 10 ** 12;
const rate = z
  .int()
  .min(0)
  .max(MOST_RATE)
  .refine((n) => !Object.is(n, -0), "0 without a sign")
  .meta({ description: "Micros per 1,000,000 tokens." });
const perRequest = rate.meta({ description: "Micros." });
const tokens = z.int().min(1).max(1_000_000_000);

export const price = z
  .strictObject({
    provider: id,
    model: model.meta({ description: "Its name at the provider, as the credentials' `models` know it." }),
    input: rate,
    cached_input: rate,
    output: rate,
    per_request: perRequest,
    cache_write: rate.optional().meta({ description: "Absent: as `input`." }),
    per_image_tokens: tokens
      .default(1_500)
      .meta({ description: "Tokens that an image counts for in a hold." }),
    aliases: z.array(model).max(20).default([]).meta({ description: "Names that mean this model." }),
    max_output_tokens: tokens
      .optional()
      .meta({ description: "The model's ceiling, where a call names none; absent: it must name one." }),
    cost_input: rate.optional().meta({ description: "What you pay upstream; likewise the others." }),
    cost_cached_input: rate.optional(),
    cost_output: rate.optional(),
    cost_cache_write: rate.optional(),
    cost_per_request: perRequest.optional(),
  })
  .meta({ id: "Price" });
export type Price = z.output<typeof price>;

export const priceName = z.object({ provider: id, model });

const route = z
  .strictObject({
    provider: id,
    pool: id.optional().meta({ description: "Absent: the caller's." }),
    provider_model: model
      .optional()
      .meta({ description: "Its name at the provider; absent: the public one." }),
  })
  .meta({ id: "Route" });
export type Route = z.output<typeof route>;

export const routes = z
  .strictObject({ routes: z.array(route).min(1).max(16).meta({ description: "Tried in this order." }) })
  .meta({ id: "Routes" });
export const modelView = z.object({ model: z.string(), routes: z.array(route) }).meta({ id: "Model" });

export const priceResult = z
  .object({
    provider: z.string(),
    model: z.string(),
    result: z.enum(["created", "updated", "unchanged"]),
  })
  .meta({ id: "PriceResult" });

export const importReport = z
  .object({
    created: z.number(),
    updated: z.number(),
    unchanged: z.number(),
    skipped: z
      .record(z.string(), z.number())
      .meta({ description: "How many models were left out, by reason." }),
    examples: z
      .array(z.object({ model: z.string(), reason: z.string() }))
      .meta({ description: "Up to 100 of those left out." }),
  })
  .meta({ id: "ImportReport" });
export type ImportReport = z.output<typeof importReport>;
