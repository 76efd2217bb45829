import lua from "../../../lua/pool/reclaim.lua";
import { defineScript } from "../define.ts";
import { lib } from "../lua.ts";
import { count } from "../types.ts";

export const reclaim = defineScript({
  name: "pool/reclaim",
  changes: true,
  lua: [...lib.allocate, lua],
  keys: ["pool_key", "leases_key"],
  args: {},
  replies: { reclaimed: { leases: count }, absent: {} },
});
