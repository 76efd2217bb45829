import lua from "../../../lua/tenant/remove_sub.lua";
import { defineScript } from "../define.ts";
import { lib } from "../lua.ts";
import { amount, count, id, note } from "../types.ts";

export const removeSubAccount = defineScript({
  name: "tenant/remove_sub",
  changes: true,
  lua: [...lib.tokens, lua],
  keys: ["tenant_key", "subs_key", "journal_key"],
  args: { tenant: id, sub_account: id, note },
  replies: { removed: { available: amount }, held: { open: count }, not_found: {}, absent: {} },
});
