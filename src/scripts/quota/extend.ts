import lua from "../../../lua/quota/extend.lua";
import { defineScript } from "../define.ts";
import { lib } from "../lua.ts";
import { amount, closed, drawRefusals, funding, id, int } from "../types.ts";

export const extend = defineScript({
  name: "quota/extend",
  changes: true,
  lua: [...lib.extend, lua],
  keys: ["tenant_key", "hold_key", "due_key"],
  args: { tenant: id, hold_id: id, ttl_ms: int.positive(), amount, accrued: amount },
  replies: {
    extended: { amount, funding, accrued: amount, expires_at_ms: int },
    ...drawRefusals,
    closed,
    not_found: {},
    absent: {},
  },
});
