import lua from "../../../lua/pool/configure.lua";
import { defineScript } from "../define.ts";
import { lib } from "../lua.ts";
import { note, text, word } from "../types.ts";

export const configure = defineScript({
  name: "pool/configure",
  changes: true,
  lua: [...lib.pool, lua],
  keys: ["pool_key", "config_key", "journal_key"],
  args: { home: word, settings_before: text, settings: text, limits: text, health: text, note },
  replies: { configured: {}, stale: {}, absent: {} },
});
