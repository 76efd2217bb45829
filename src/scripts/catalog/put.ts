import lua from "../../../lua/catalog/put.lua";
import { defineScript } from "../define.ts";
import { lib } from "../lua.ts";
import { count, note, text } from "../types.ts";

export const putEntry = defineScript({
  name: "catalog/put",
  changes: true,
  lua: [...lib.catalog, lua],
  keys: ["catalog_key", "journal_key"],
  args: { field: text, value: note, note },
  replies: { created: {}, updated: {}, unchanged: {}, full: { entries: count } },
});
