import { z } from "zod";
import lua from "../../../lua/lease/undo.lua";
import { defineScript } from "../define.ts";
import { lib } from "../lua.ts";
import { flagArg, id, ms, word } from "../types.ts";
import { LOST } from "./renew.ts";

export const undo = defineScript({
  name: "lease/undo",
  changes: true,
  lua: [...lib.release, lua],
  keys: ["pool_key", "leases_key", "lease_key"],
  args: { lease_id: id, home: word, bench_it: flagArg, spend_ms: ms },
  replies: { undone: {}, not_held: { reason: z.enum(LOST) } },
});
