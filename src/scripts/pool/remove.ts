import lua from "../../../lua/pool/remove.lua";
import { defineScript } from "../define.ts";
import { lib } from "../lua.ts";
import { count, id, note, word } from "../types.ts";

export const remove = defineScript({
  name: "pool/remove",
  changes: true,
  lua: [...lib.members, lua],
  keys: ["pool_key", "config_key", "secrets_key", "provider_key", "journal_key"],
  args: { home: word, pool_name: id, credential_id: id, note },
  replies: { removed: { ended: count }, not_found: {}, absent: {} },
});
