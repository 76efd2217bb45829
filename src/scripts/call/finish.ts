import { z } from "zod";
import lua from "../../../lua/call/finish.lua";
import { defineScript } from "../define.ts";
import { OUTCOMES } from "../lease/release.ts";
import { lib } from "../lua.ts";
import { amount, closed, flag, funding, id, ms, note, word } from "../types.ts";

export const finish = defineScript({
  name: "call/finish",
  changes: true,
  lua: [...lib.finish, lua],
  keys: ["tenant_key", "hold_key", "due_key", "journal_key", "pool_key", "leases_key"],
  args: {
    tenant: id,
    call_id: id,
    home: word,
    credential_id: id,
    fingerprint: word,
    how: z.enum(["settled", "voided"]),
    amount,
    outcome: z.enum([...OUTCOMES, ""]),
    retry_after_ms: z.union([z.literal(""), ms]),
    note,
    keep_ms: ms,
  },
  replies: {
    finished: { charged: amount, returned: funding, debt: amount, released: flag, replayed: flag },
    closed,
    mismatch: {},
    unsafe: {},
    not_found: {},
    absent: {},
  },
});
