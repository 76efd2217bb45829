// Is the cell there? A script that finds nothing cannot tell an unknown name from an emptied database; this can.

import type { Deps } from "../deps.ts";
import { StoreUnavailable } from "../store.ts";

const NO_CELL = "the database is not a cell: POST /api/admin/cell makes an empty one, a rebuild restores one";

/** Throws StoreUnavailable (`no_cell`) unless the database is a cell, by one plain read. */
export async function requireCell(deps: Pick<Deps, "store" | "keys" | "settings">): Promise<void> {
  const [meta] = await deps.store.read((p) => p.hmget(deps.keys.meta(), "cell", "rebuilding"));
  const [cell, rebuilding] = Array.isArray(meta) ? meta : [];
  if (cell !== deps.settings.CELL || rebuilding) throw new StoreUnavailable("no_cell", false, NO_CELL);
}
