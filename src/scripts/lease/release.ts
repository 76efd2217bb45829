import { z } from "zod";
import lua from "../../../lua/lease/release.lua";
import { defineScript } from "../define.ts";
import { lib } from "../lua.ts";
import { id, ms, word } from "../types.ts";
import { LOST } from "./renew.ts";

/** How a call ended, and what that means for its credential: lua/lib/health.lua. */
export const OUTCOMES = [
  "success",
  "rate_limited",
  "exhausted",
  "auth_failed",
  "upstream_error",
  "client_error",
  "cancelled",
] as const;

export const release = defineScript({
  name: "lease/release",
  changes: true,
  lua: [...lib.release, lua],
  keys: ["pool_key", "leases_key", "lease_key"],
  args: {
    lease_id: id,
    home: word,
    credential_id: id,
    outcome: z.enum([...OUTCOMES, ""]),
    retry_after_ms: z.union([z.literal(""), ms]),
    keep_ms: ms,
  },
  replies: { released: {}, not_released: { reason: z.enum(LOST) }, absent: {} },
});
