import { z } from "zod";
import lua from "../../../lua/cell/create.lua";
import { defineScript } from "../define.ts";
import { lib } from "../lua.ts";
import { flag, id, int } from "../types.ts";

export const create = defineScript({
  name: "cell/create",
  changes: true,
  lua: [...lib.base, lua],
  keys: ["meta_key"],
  args: { cell: id, shards: int.min(1), op_id: z.union([id, z.literal("")]) },
  replies: { created: { epoch: int, replayed: flag }, exists: { cell: id, epoch: int } },
});
