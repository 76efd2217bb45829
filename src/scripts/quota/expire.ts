import lua from "../../../lua/quota/expire.lua";
import { defineScript } from "../define.ts";
import { lib } from "../lua.ts";
import { amount, closed, funding, id, int, ms } from "../types.ts";

export const expire = defineScript({
  name: "quota/expire",
  changes: true,
  lua: [...lib.end, lua],
  keys: ["tenant_key", "hold_key", "due_key", "journal_key"],
  args: { tenant: id, hold_id: id, keep_ms: ms },
  replies: {
    expired: { charged: amount, returned: funding },
    not_due: { expires_at_ms: int },
    closed,
    not_found: {},
    absent: {},
  },
});
