import lua from "../../../lua/pool/configure.lua";
import { defineScript } from "../define.ts";
import { lib } from "../lua.ts";
import { text } from "../types.ts";

export const configure = defineScript({
  name: "pool/configure",
  changes: true,
  lua: [...lib.pool, lua],
  keys: ["pool_key", "config_key"],
  args: { settings_before: text, settings: text, limits: text, health: text },
  replies: { configured: {}, stale: {}, absent: {} },
});
