import lua from "../../../lua/pool/revoke.lua";
import { defineScript } from "../define.ts";
import { lib } from "../lua.ts";
import { count, id } from "../types.ts";

export const revoke = defineScript({
  name: "pool/revoke",
  changes: true,
  lua: [...lib.pool, lua],
  keys: ["pool_key"],
  args: { credential_id: id },
  replies: { revoked: { ended: count }, not_found: {}, absent: {} },
});
