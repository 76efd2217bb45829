import { z } from "zod";
import lua from "../../../lua/pool/put.lua";
import { defineScript } from "../define.ts";
import { lib } from "../lua.ts";
import { count, id, int, note, text, word } from "../types.ts";

/** How many leases a credential may carry at once. */
export const capacity = int.min(1).max(10_000);

export const put = defineScript({
  name: "pool/put",
  changes: true,
  lua: [...lib.members, lua],
  keys: ["pool_key", "config_key", "secrets_key", "provider_key", "index_key", "journal_key"],
  args: {
    home: word,
    pool_name: id,
    credential_id: id,
    status: z.enum(["available", "pending", "disabled"]),
    capacity,
    config: text,
    fingerprint: word,
    sealed: word,
    limits: text,
    health: text,
    note,
  },
  replies: {
    created: {},
    updated: {},
    unchanged: {},
    elsewhere: { what: z.enum(["key_id", "secret"]), pool: id },
    full: { members: count },
  },
});
