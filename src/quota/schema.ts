// Holds on the wire.
import { z } from "@hono/zod-openapi";
import { id } from "../ids.ts";
import { model } from "../pools/schema.ts";
import { MAX_ITEMS } from "../scripts/quota/reserve.ts";
import { HOLD_STATES, SOURCES } from "../scripts/types.ts";
import { amount } from "../units.ts";

const count = z.int().min(0).max(Number.MAX_SAFE_INTEGER);
const ttlSeconds = z.int().min(1).max(3600);
export const reason = z
  .string()
  .trim()
  .regex(/^[^\p{C}\p{Zl}\p{Zp}]{1,256}$/u, "1 to 256 printable characters");

const sum = (items: readonly { amount: number }[]) => items.reduce((all, item) => all + item.amount, 0);
const SUM_FAULT = "their sum is above 2^53-1";
const summable = (items: readonly { amount: number }[]) => Number.isSafeInteger(sum(items));

const item = z.strictObject({ model, amount, tokens: count.default(0), requests: count.default(1) });
export type Item = z.output<typeof item>;

/** What a hold may say of its only model. */
const ONE = ["tokens", "requests"] as const;

export const holdFields = {
  hold_id: id.meta({ description: "Chosen by the caller; a repeat finds the hold again." }),
  tenant: id,
  sub_account: id,
  amount: amount.optional(),
  model: model.optional(),
  tokens: count.optional(),
  requests: count.optional().meta({ description: "1 unless said." }),
  items: z
    .array(item)
    .min(1)
    .max(MAX_ITEMS)
    .refine(summable, SUM_FAULT)
    .optional()
    .meta({ description: "In place of `amount`, for a call that uses several models: all or none." }),
  ttl_seconds: ttlSeconds.default(120),
  provider: id.optional().meta({ description: "With a pool: then its breaker is asked." }),
  pool: id.optional(),
  metadata: z
    .unknown()
    .optional()
    .meta({ description: "JSON of up to 2,048 bytes; it comes back byte for byte." }),
};

interface Said {
  readonly amount?: number | undefined;
  readonly items?: unknown;
  readonly model?: unknown;
  readonly tokens?: unknown;
  readonly requests?: unknown;
}

/** An amount or items, not both. */
export function holdRules(hold: Said, context: z.RefinementCtx) {
  const fault = (field: string, message: string) =>
    context.addIssue({ code: "custom", path: [field], message });
  if (hold.items === undefined && hold.amount === undefined) fault("amount", "is required, or items");
  if (hold.items && hold.amount !== undefined) fault("amount", "not together with items");
  for (const field of ONE) {
    if (hold.items && hold[field] !== undefined) fault(field, "not together with items: it is theirs");
  }
}

export const holdBody = z
  .strictObject(holdFields)
  .superRefine(holdRules)
  .refine(({ provider, pool }) => pool === undefined || provider !== undefined, {
    path: ["provider"],
    message: "is required with a pool",
  })
  .refine(({ items, model }) => !items || model === undefined, {
    path: ["model"],
    message: "not together with items: it is theirs",
  })
  .meta({ id: "Reserve" });
export type HoldBody = z.output<typeof holdBody>;

type Of = Pick<HoldBody, "amount" | "model" | "tokens" | "requests" | "items">;
/** The models of a call with their amounts. A call of one model without a name has the empty one. */
export function itemsOf({ amount, model = "", tokens = 0, requests = 1, items }: Of): Item[] {
  return items ?? [{ model, amount: amount ?? 0, tokens, requests }];
}

const number = z.number();
export const parts = z.array(z.object({ source: z.enum(SOURCES), amount: number }));
export const reserved = z
  .object({
    hold_id: z.string(),
    state: z.literal("open"),
    amount: number,
    funding: parts.meta({ description: "Which purses it came from, in the order in which it was drawn." }),
    available: z.object({ sub_account: number, account: number }),
    expires_at: z.string(),
    replayed: z.boolean(),
  })
  .meta({ id: "Reserved" });

export const holdPath = z.object({ hold_id: id });
export const ofTenant = z.object({ tenant: id });

export const settleBody = z
  .strictObject({
    tenant: id,
    amount: amount.meta({ description: "What was used in all; it may be more than was held." }),
    items: z
      .array(z.strictObject({ model, amount }))
      .min(1)
      .max(MAX_ITEMS)
      .optional()
      .meta({ description: "What was used by each item of the hold, in its order." }),
    usage: z
      .record(z.string().regex(/^[a-z][a-z0-9_]{0,63}$/, "a lower case name"), count)
      .refine((usage) => Object.keys(usage).length <= 20, "at most 20 counts")
      .optional()
      .meta({ description: "Counts for the journal, such as `input_tokens`." }),
  })
  .refine(({ amount, items }) => !items || sum(items) === amount, {
    path: ["items"],
    message: "their amounts must add up to amount",
  })
  .meta({ id: "Settle" });
export const settled = z
  .object({
    hold_id: z.string(),
    state: z.literal("settled"),
    charged: number,
    returned: parts.meta({ description: "What went back, and where." }),
    debt: number.meta({ description: "The part that no purse could pay: the sub-account owes it." }),
    replayed: z.boolean(),
  })
  .meta({ id: "Settled" });

export const voidBody = z.strictObject({ tenant: id, reason: reason.optional() }).meta({ id: "Void" });
export const voided = z
  .object({ hold_id: z.string(), state: z.literal("voided"), returned: parts, replayed: z.boolean() })
  .meta({ id: "Voided" });

export const extendBody = z
  .strictObject({
    tenant: id,
    ttl_seconds: ttlSeconds,
    amount: amount
      .optional()
      .meta({ description: "The whole of what is to be held; it never becomes less." }),
    accrued: amount
      .optional()
      .meta({ description: "What is used up so far: charged if the hold expires. It never becomes less." }),
  })
  .meta({ id: "Extend" });
export const extended = z
  .object({
    hold_id: z.string(),
    state: z.literal("open"),
    amount: number,
    funding: parts,
    accrued: number,
    expires_at: z.string(),
  })
  .meta({ id: "Extended" });

export const holdView = z
  .object({
    hold_id: z.string(),
    tenant: z.string(),
    sub_account: z.string(),
    state: z.enum(HOLD_STATES),
    amount: number.meta({ description: "What was held." }),
    items: z.array(z.object({ model: z.string(), amount: number, tokens: number, requests: number })),
    funding: parts,
    accrued: number,
    charged: number,
    confirmed: z.boolean().meta({ description: "false while it is open, and of one that expired." }),
    refunded: number,
    returned: parts,
    debt: number,
    provider: z.string().nullable(),
    pool: z.string().nullable(),
    key_id: z.string().nullable().meta({ description: "Of a call: the credential that it leased." }),
    opened_at: z.string(),
    expires_at: z.string(),
    metadata: z.unknown(),
  })
  .meta({ id: "Hold" });
