import lua from "../../../lua/lock/free.lua";
import { defineScript } from "../define.ts";
import { lib } from "../lua.ts";
import { id } from "../types.ts";

export const freeLock = defineScript({
  name: "lock/free",
  changes: true,
  lua: [...lib.base, lua],
  keys: ["lock_key"],
  args: { owner: id },
  replies: { freed: {}, not_held: {} },
});
