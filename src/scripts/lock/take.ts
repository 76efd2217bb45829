import lua from "../../../lua/lock/take.lua";
import { defineScript } from "../define.ts";
import { lib } from "../lua.ts";
import { id, ms } from "../types.ts";

export const takeLock = defineScript({
  name: "lock/take",
  changes: true,
  lua: [...lib.base, lua],
  keys: ["lock_key"],
  args: { owner: id, for_ms: ms.min(1) },
  replies: { taken: {}, held: {} },
});
