import { z } from "zod";
import lua from "../../../lua/cell/probe.lua";
import { defineScript, json } from "../define.ts";
import { lib } from "../lua.ts";
import { flagArg, int } from "../types.ts";

/** What a database must do, by the name that the probe gives it. */
export const CHECKS = {
  time: "TIME inside a script gives the present time",
  digits: 'string.format("%.0f") and cjson keep all digits of 2^53-1',
  pxat: "SET … PXAT sets a time at which a key ends",
  nx: "SET … NX leaves a key that exists as it is",
  xadd: "XADD … MAXLEN adds to a stream",
  range: "ZRANGE … BYSCORE LIMIT reads a sorted set by score",
} as const;

export const probe = defineScript({
  name: "cell/probe",
  changes: false,
  lua: [...lib.base, lua],
  keys: ["probe_key", "stream_key"],
  args: { full: flagArg },
  replies: {
    probed: { now_ms: int, failures: json(z.array(z.enum(Object.keys(CHECKS) as (keyof typeof CHECKS)[]))) },
  },
});
