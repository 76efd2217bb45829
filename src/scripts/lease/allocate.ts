import { z } from "zod";
import lua from "../../../lua/lease/allocate.lua";
import { defineScript, json, list } from "../define.ts";
import { lib } from "../lua.ts";
import { count, flag, flagArg, id, int, ms, text, word, wordOrNone } from "../types.ts";

/** How many ranked candidates one call may name. */
export const MAX_CANDIDATES = 32;

export const allocate = defineScript({
  name: "lease/allocate",
  changes: true,
  lua: [...lib.allocate, lua],
  keys: ["pool_key", "secrets_key", "leases_key", "lease_key"],
  args: {
    lease_id: id,
    home: word,
    holder: wordOrNone,
    fingerprint: word,
    lease_ms: ms.min(1),
    keep_ms: ms,
    candidates: list(id, MAX_CANDIDATES),
    ends: z.record(id, ms).transform((ends) => JSON.stringify(ends)),
    borrowed: flagArg,
  },
  replies: {
    granted: {
      credential: id,
      fence: int,
      expires_at_ms: int,
      expires_in_ms: ms,
      max_expires_at_ms: int,
      secret: text,
      replayed: flag,
    },
    no_capacity: { due_in_ms: ms, reasons: json(z.record(z.string(), count)), seq: count },
    breaker_open: { due_in_ms: ms },
    reclaim_due: {},
    lease_lost: { reason: z.enum(["expired", "released", "revoked"]) },
    conflict: {},
    elsewhere: { home: word },
    absent: {},
  },
});
