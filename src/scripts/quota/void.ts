import lua from "../../../lua/quota/void.lua";
import { defineScript } from "../define.ts";
import { lib } from "../lua.ts";
import { closed, flag, funding, id, ms, note } from "../types.ts";

export const voidHold = defineScript({
  name: "quota/void",
  changes: true,
  lua: [...lib.end, lua],
  keys: ["tenant_key", "hold_key", "due_key", "journal_key"],
  args: { tenant: id, hold_id: id, note, keep_ms: ms },
  replies: { voided: { returned: funding, replayed: flag }, closed, not_found: {}, absent: {} },
});
