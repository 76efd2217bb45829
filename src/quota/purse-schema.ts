// Refunds, adjustments and balances on the wire.
import { z } from "@hono/zod-openapi";
import { id } from "../ids.ts";
import { ADJUSTMENTS } from "../scripts/quota/adjust.ts";
import { accountView } from "../tenants/schema.ts";
import { amount, positive } from "../units.ts";
import { parts, reason } from "./schema.ts";

const number = z.number();

export const refundBody = z
  .strictObject({ op_id: id, tenant: id, hold_id: id, amount: positive, reason: reason.optional() })
  .meta({ id: "Refund" });
export const refunded = z
  .object({
    op_id: z.string(),
    hold_id: z.string(),
    amount: number,
    returned: parts,
    refundable: number.meta({ description: "What can still be refunded." }),
    replayed: z.boolean(),
  })
  .meta({ id: "Refunded" });

const purse = z.union([z.literal("account"), z.strictObject({ sub_account: id })], {
  error: '"account", or { "sub_account": its id }',
});
const why = {
  purse,
  reason,
  ref: id.optional().meta({ description: "What it belongs to, such as a hold." }),
};
export const adjustBody = z
  .discriminatedUnion("kind", [
    z.strictObject({ kind: z.literal(["grant", "deduct"]), amount: positive, ...why }),
    z.strictObject({ kind: z.literal("set"), amount, ...why }),
    z.strictObject({ kind: z.literal("zero"), ...why }),
  ])
  .meta({ id: "Adjust" });
export const adjusted = z
  .object({
    op_id: z.string(),
    tenant: z.string(),
    purse,
    kind: z.enum(ADJUSTMENTS),
    change: number.meta({ description: "What came in; below zero, what went out." }),
    available: number,
    debt: number,
    replayed: z.boolean(),
  })
  .meta({ id: "Adjusted" });

export const balances = z
  .object({
    account: accountView,
    sub_accounts: z.array(
      z.object({
        sub_account: z.string(),
        available: number,
        held: number,
        spent: number,
        lapsed: number,
        debt: number,
      }),
    ),
    next_cursor: z.string().nullable(),
  })
  .meta({ id: "Balances" });
