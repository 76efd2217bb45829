import { z } from "zod";
import lua from "../../../lua/quota/adjust.lua";
import { defineScript } from "../define.ts";
import { lib } from "../lua.ts";
import { amount, flag, id, int, ms, note, word } from "../types.ts";

/** Grant and deduct change what is available by an amount; set and zero say what it is. */
export const ADJUSTMENTS = ["grant", "deduct", "set", "zero"] as const;

export const adjust = defineScript({
  name: "quota/adjust",
  changes: true,
  lua: [...lib.adjust, lua],
  keys: ["tenant_key", "op_key", "journal_key"],
  args: {
    tenant: id,
    sub_account: z.union([z.literal(""), id]),
    op_id: id,
    fingerprint: word,
    how: z.enum(ADJUSTMENTS),
    note,
    amount,
    keep_ms: ms,
  },
  replies: {
    adjusted: { by: int, available: amount, debt: amount, replayed: flag },
    conflict: {},
    insufficient: { available: amount },
    unsafe: {},
    not_found: {},
    absent: {},
  },
});
