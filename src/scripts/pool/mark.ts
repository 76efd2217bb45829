import { z } from "zod";
import lua from "../../../lua/pool/mark.lua";
import { defineScript } from "../define.ts";
import { lib } from "../lua.ts";
import { count, flag, id, note, word } from "../types.ts";

export const mark = defineScript({
  name: "pool/mark",
  changes: true,
  lua: [...lib.pool, lua],
  keys: ["pool_key", "journal_key"],
  args: { home: word, credential_id: id, status: z.enum(["available", "disabled"]), note },
  replies: { marked: { in_flight: count, changed: flag }, not_found: {}, absent: {} },
});
