import lua from "../../../lua/catalog/remove.lua";
import { defineScript } from "../define.ts";
import { lib } from "../lua.ts";
import { note, text } from "../types.ts";

export const removeEntry = defineScript({
  name: "catalog/remove",
  changes: true,
  lua: [...lib.catalog, lua],
  keys: ["catalog_key", "journal_key"],
  args: { field: text, note },
  replies: { removed: {}, not_found: {} },
});
