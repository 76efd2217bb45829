import { z } from "zod";
import lua from "../../../lua/quota/reserve.lua";
import { defineScript, rows } from "../define.ts";
import { lib } from "../lua.ts";
import { amount, closed, count, drawRefusals, flag, funding, id, int, ms, text, word } from "../types.ts";

/** Models that one call may name. */
export const MAX_ITEMS = 16;

export const reserve = defineScript({
  name: "quota/reserve",
  changes: true,
  lua: [...lib.reserve, lua],
  keys: ["tenant_key", "hold_key", "due_key", "pool_key"],
  args: {
    tenant: id,
    sub_account: id,
    hold_id: id,
    fingerprint: word,
    token: z.union([z.literal(""), word]),
    ttl_ms: int.positive(),
    home: word,
    items: rows({ model: text, amount, tokens: count, requests: count }, MAX_ITEMS),
    metadata: text,
  },
  replies: {
    reserved: {
      amount,
      funding,
      sub_available: amount,
      account_available: amount,
      expires_at_ms: int,
      replayed: flag,
    },
    ...drawRefusals,
    unauthenticated: {},
    not_found: {},
    no_pool: {},
    concurrency_limited: { max_concurrent: count },
    breaker_open: { due_in_ms: ms },
    closed,
    conflict: {},
    absent: {},
  },
});
