import { z } from "zod";
import lua from "../../../lua/call/admit.lua";
import { defineScript, json, list, rows } from "../define.ts";
import { MAX_CANDIDATES } from "../lease/allocate.ts";
import { lib } from "../lua.ts";
import { MAX_ITEMS } from "../quota/reserve.ts";
import {
  amount,
  closed,
  count,
  drawRefusals,
  flag,
  flagArg,
  funding,
  id,
  int,
  ms,
  text,
  word,
} from "../types.ts";

export const admit = defineScript({
  name: "call/admit",
  changes: true,
  lua: [...lib.admit, lua],
  keys: ["tenant_key", "hold_key", "due_key", "pool_key", "leases_key", "secrets_key"],
  args: {
    tenant: id,
    sub_account: id,
    call_id: id,
    fingerprint: word,
    token: z.union([z.literal(""), word]),
    home: word,
    ttl_ms: int.positive(),
    lease_ms: int.positive(),
    items: rows({ model: text, amount, tokens: count, requests: count }, MAX_ITEMS),
    metadata: text,
    candidates: list(id, MAX_CANDIDATES),
    ends: z.record(id, int).transform((ends) => JSON.stringify(ends)),
    borrowed: flagArg,
    holder: z.union([z.literal(""), id]),
  },
  replies: {
    admitted: {
      amount,
      funding,
      sub_available: amount,
      account_available: amount,
      credential: id,
      fence: int,
      expires_at_ms: int,
      expires_in_ms: int,
      max_expires_at_ms: int,
      hold_expires_at_ms: int,
      secret: text,
      replayed: flag,
    },
    ...drawRefusals,
    unauthenticated: {},
    not_found: {},
    concurrency_limited: { max_concurrent: count },
    breaker_open: { due_in_ms: ms },
    no_capacity: { due_in_ms: ms, reasons: json(z.record(z.string(), count)), seq: count },
    reclaim_due: {},
    lease_lost: { reason: z.enum(["expired", "released", "revoked"]) },
    closed,
    conflict: {},
    elsewhere: { home: word },
    no_pool: {},
    absent: {},
  },
});
