import lua from "../../../lua/pool/revoke.lua";
import { defineScript } from "../define.ts";
import { lib } from "../lua.ts";
import { count, id, note, word } from "../types.ts";

export const revoke = defineScript({
  name: "pool/revoke",
  changes: true,
  lua: [...lib.pool, lua],
  keys: ["pool_key", "journal_key"],
  args: { home: word, credential_id: id, note },
  replies: { revoked: { ended: count }, not_found: {}, absent: {} },
});
