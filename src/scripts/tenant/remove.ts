import lua from "../../../lua/tenant/remove.lua";
import { defineScript } from "../define.ts";
import { lib } from "../lua.ts";
import { count, id, note } from "../types.ts";

export const removeTenant = defineScript({
  name: "tenant/remove",
  changes: true,
  lua: [...lib.tenant, lua],
  keys: ["tenant_key", "subs_key", "index_key", "journal_key"],
  args: { tenant: id, note },
  replies: { removed: { subs: count }, held: { open: count }, too_many: { subs: count }, absent: {} },
});
