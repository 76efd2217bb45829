import { z } from "zod";
import lua from "../../../lua/call/renew.lua";
import { defineScript } from "../define.ts";
import { LOST } from "../lease/renew.ts";
import { lib } from "../lua.ts";
import { amount, closed, drawRefusals, id, int, word } from "../types.ts";

export const renewCall = defineScript({
  name: "call/renew",
  changes: true,
  lua: [...lib.renewCall, lua],
  keys: ["tenant_key", "hold_key", "due_key", "pool_key", "leases_key"],
  args: {
    tenant: id,
    call_id: id,
    home: word,
    credential_id: id,
    lease_ms: int.positive(),
    amount,
    accrued: amount,
  },
  replies: {
    renewed: { expires_at_ms: int, expires_in_ms: int, max_expires_at_ms: int, amount, accrued: amount },
    lease_lost: { reason: z.enum(LOST) },
    ...drawRefusals,
    closed,
    mismatch: {},
    not_found: {},
    absent: {},
  },
});
