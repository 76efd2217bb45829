// Calls on the wire: what a hold and what a lease say, together.
import { z } from "@hono/zod-openapi";
import { id } from "../ids.ts";
import { allocateBody, leaseSeconds, leaseView, outcome, renewed } from "../leases/schema.ts";
import { holdFields, holdRules, parts, settleBody, settled } from "../quota/schema.ts";
import { amount } from "../units.ts";

const { op_id: _op, ...lease } = allocateBody.shape;
const { hold_id: _hold, provider: _provider, pool: _pool, model: _model, ...hold } = holdFields;

export const admitBody = z
  .strictObject({
    call_id: id.meta({ description: "Chosen by the caller; a repeat finds the call again." }),
    ...lease,
    ...hold,
  })
  .superRefine(holdRules)
  .meta({ id: "Admit" });
export type AdmitBody = z.output<typeof admitBody>;

const number = z.number();
export const admitted = z
  .object({
    call_id: z.string(),
    lease: leaseView,
    hold: z.object({
      state: z.literal("open"),
      amount: number,
      funding: parts,
      available: z.object({ sub_account: number, account: number }),
      expires_at: z.string(),
      replayed: z.boolean(),
    }),
  })
  .meta({ id: "Admitted" });

export const callPath = z.object({ call_id: id });
const as_admitted = { description: "As the call's lease named it." };
const held = {
  tenant: id,
  provider: id.meta(as_admitted),
  pool: id.default("default").meta(as_admitted),
  key_id: id.meta(as_admitted),
};

export const renewCallBody = z
  .strictObject({
    ...held,
    lease_seconds: leaseSeconds.meta({ description: "More time for both." }),
    amount: amount
      .optional()
      .meta({ description: "The whole of what is to be held; it never becomes less." }),
    accrued: amount
      .optional()
      .meta({ description: "What is used up so far: charged if the call is never finished." }),
  })
  .meta({ id: "RenewCall" });
export const callRenewed = renewed
  .omit({ lease_id: true })
  .extend({ call_id: z.string(), amount: number, accrued: number })
  .meta({ id: "CallRenewed" });

export const finishBody = z
  .strictObject({
    ...held,
    amount: amount
      .optional()
      .meta({ description: "What was used in all; absent: nothing is charged, the hold is void." }),
    usage: settleBody.shape.usage,
    outcome: outcome.optional(),
  })
  .meta({ id: "Finish" });
export const finished = settled
  .omit({ hold_id: true, state: true })
  .extend({
    call_id: z.string(),
    state: z.enum(["settled", "voided"]),
    released: z.boolean().meta({ description: "false: its lease was over before." }),
  })
  .meta({ id: "Finished" });
