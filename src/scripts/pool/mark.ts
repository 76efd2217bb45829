import { z } from "zod";
import lua from "../../../lua/pool/mark.lua";
import { defineScript } from "../define.ts";
import { lib } from "../lua.ts";
import { count, flag, id } from "../types.ts";

export const mark = defineScript({
  name: "pool/mark",
  changes: true,
  lua: [...lib.pool, lua],
  keys: ["pool_key"],
  args: { credential_id: id, status: z.enum(["available", "disabled"]) },
  replies: { marked: { in_flight: count, changed: flag }, not_found: {}, absent: {} },
});
