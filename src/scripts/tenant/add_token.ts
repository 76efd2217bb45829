import lua from "../../../lua/tenant/add_token.lua";
import { defineScript } from "../define.ts";
import { lib } from "../lua.ts";
import { count, id, int, note, text, word } from "../types.ts";

export const addToken = defineScript({
  name: "tenant/add_token",
  changes: true,
  lua: [...lib.tokens, lua],
  keys: ["tenant_key", "journal_key"],
  args: { tenant: id, sub_account: id, token_id: id, sha256: word, name: text, note },
  replies: { added: { made_at_ms: int }, named: {}, full: { tokens: count }, not_found: {}, absent: {} },
});
