import lua from "../../../lua/quota/settle.lua";
import { defineScript, rows } from "../define.ts";
import { lib } from "../lua.ts";
import { amount, closed, flag, funding, id, ms, note, text, word } from "../types.ts";
import { MAX_ITEMS } from "./reserve.ts";

export const settle = defineScript({
  name: "quota/settle",
  changes: true,
  lua: [...lib.end, lua],
  keys: ["tenant_key", "hold_key", "due_key", "journal_key"],
  args: {
    tenant: id,
    hold_id: id,
    fingerprint: word,
    amount,
    used: rows({ model: text, amount }, MAX_ITEMS),
    note,
    keep_ms: ms,
  },
  replies: {
    settled: { charged: amount, returned: funding, debt: amount, replayed: flag },
    closed,
    mismatch: {},
    unsafe: {},
    not_found: {},
    absent: {},
  },
});
