import { z } from "zod";
import lua from "../../../lua/tenant/put_sub.lua";
import { defineScript } from "../define.ts";
import { lib } from "../lua.ts";
import { count, id, note, text } from "../types.ts";

export const putSubAccount = defineScript({
  name: "tenant/put_sub",
  changes: true,
  lua: [...lib.tenant, lua],
  keys: ["tenant_key", "subs_key", "journal_key"],
  args: {
    tenant: id,
    sub_account: id,
    config_before: text,
    config: text,
    kind: z.enum(["config", "status"]),
    note,
  },
  replies: {
    created: {},
    updated: {},
    unchanged: {},
    exists: {},
    stale: {},
    full: { subs: count },
    not_found: {},
    absent: {},
  },
});
