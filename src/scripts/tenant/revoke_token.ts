import lua from "../../../lua/tenant/revoke_token.lua";
import { defineScript } from "../define.ts";
import { lib } from "../lua.ts";
import { id, note } from "../types.ts";

export const revokeToken = defineScript({
  name: "tenant/revoke_token",
  changes: true,
  lua: [...lib.tokens, lua],
  keys: ["tenant_key", "journal_key"],
  args: { tenant: id, sub_account: id, token_id: id, note },
  replies: { revoked: {}, not_found: {}, absent: {} },
});
