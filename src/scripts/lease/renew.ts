import { z } from "zod";
import lua from "../../../lua/lease/renew.lua";
import { defineScript } from "../define.ts";
import { lib } from "../lua.ts";
import { id, int, ms, word } from "../types.ts";

/** Why a lease is not held any more. */
export const LOST = ["expired", "released", "revoked", "mismatch", "unknown"] as const;

export const renew = defineScript({
  name: "lease/renew",
  changes: true,
  lua: [...lib.leases, lua],
  keys: ["pool_key", "leases_key", "lease_key"],
  args: { lease_id: id, home: word, credential_id: id, lease_ms: ms.min(1) },
  replies: {
    renewed: { expires_at_ms: int, expires_in_ms: ms, max_expires_at_ms: int },
    lease_lost: { reason: z.enum(LOST) },
    absent: {},
  },
});
