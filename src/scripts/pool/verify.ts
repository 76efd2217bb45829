import { z } from "zod";
import lua from "../../../lua/pool/verify.lua";
import { defineScript } from "../define.ts";
import { lib } from "../lua.ts";
import { flag, flagArg, id, note, word } from "../types.ts";

export const verify = defineScript({
  name: "pool/verify",
  changes: true,
  lua: [...lib.pool, lua],
  keys: ["pool_key", "secrets_key", "journal_key"],
  args: {
    home: word,
    credential_id: id,
    fingerprint: word,
    status: word,
    works: flagArg,
    actor: z.enum(["probe", "refresh"]),
    note,
  },
  replies: { verified: { changed: flag }, refused: { changed: flag }, moved: {}, not_found: {}, absent: {} },
});
