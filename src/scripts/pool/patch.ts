import { z } from "zod";
import lua from "../../../lua/pool/patch.lua";
import { defineScript } from "../define.ts";
import { lib } from "../lua.ts";
import { id, note, text, word, wordOrNone } from "../types.ts";
import { capacity } from "./put.ts";

export const patch = defineScript({
  name: "pool/patch",
  changes: true,
  lua: [...lib.members, lua],
  keys: ["pool_key", "config_key", "secrets_key", "provider_key", "journal_key"],
  args: {
    home: word,
    pool_name: id,
    credential_id: id,
    config_before: text,
    config: text,
    fingerprint_before: wordOrNone,
    capacity: z.union([z.literal(""), capacity]),
    fingerprint: wordOrNone,
    sealed: wordOrNone,
    actor: z.enum(["admin", "refresh"]),
    note,
  },
  replies: {
    patched: {},
    stale: {},
    elsewhere: { what: z.enum(["key_id", "secret"]), pool: id },
    not_found: {},
    absent: {},
  },
});
