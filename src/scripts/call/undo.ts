import { z } from "zod";
import lua from "../../../lua/call/undo.lua";
import { defineScript } from "../define.ts";
import { OUTCOMES } from "../lease/release.ts";
import { lib } from "../lua.ts";
import { closed, flag, id, ms, note, word } from "../types.ts";

export const undoCall = defineScript({
  name: "call/undo",
  changes: true,
  lua: [...lib.undoCall, lua],
  keys: ["tenant_key", "hold_key", "due_key", "pool_key", "leases_key", "journal_key"],
  args: {
    tenant: id,
    call_id: id,
    home: word,
    outcome: z.enum([...OUTCOMES, ""]),
    retry_after_ms: z.union([z.literal(""), ms]),
    note,
    keep_ms: ms,
  },
  replies: { undone: { released: flag }, closed, mismatch: {}, not_found: {}, absent: {} },
});
