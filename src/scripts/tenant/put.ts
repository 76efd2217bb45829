import { z } from "zod";
import lua from "../../../lua/tenant/put.lua";
import { defineScript } from "../define.ts";
import { lib } from "../lua.ts";
import { id, note, text } from "../types.ts";

export const putTenant = defineScript({
  name: "tenant/put",
  changes: true,
  lua: [...lib.tenant, lua],
  keys: ["tenant_key", "index_key", "journal_key"],
  args: { tenant: id, config_before: text, config: text, kind: z.enum(["config", "status"]), note },
  replies: { created: {}, updated: {}, unchanged: {}, exists: {}, stale: {}, absent: {} },
});
