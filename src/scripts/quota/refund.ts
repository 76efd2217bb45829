import { z } from "zod";
import lua from "../../../lua/quota/refund.lua";
import { defineScript } from "../define.ts";
import { lib } from "../lua.ts";
import { amount, count, flag, funding, HOLD_STATES, id, note } from "../types.ts";

export const refund = defineScript({
  name: "quota/refund",
  changes: true,
  lua: [...lib.refund, lua],
  keys: ["tenant_key", "hold_key", "journal_key"],
  args: { tenant: id, hold_id: id, op_id: id, amount: amount.min(1), note },
  replies: {
    refunded: { returned: funding, left: amount, replayed: flag },
    conflict: {},
    not_settled: { state: z.enum(HOLD_STATES) },
    too_much: { left: amount },
    full: { refunds: count },
    not_found: {},
    absent: {},
  },
});
