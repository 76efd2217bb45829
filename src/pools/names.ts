// Which pools the cell has.
import { z } from "zod";
import { requireCell } from "../cell/meta.ts";
import type { Deps } from "../deps.ts";
import { poolOfHome } from "../keys.ts";

export interface PoolName {
  readonly provider: string;
  readonly pool: string;
}

/** All pools, in order of name, by one plain read. Throws StoreUnavailable when there is none because the database is no cell. */
export async function poolsOf(deps: Deps): Promise<PoolName[]> {
  const [homes] = await deps.store.read((p) => p.hkeys(deps.keys.index("pools")));
  const names = z.array(z.string()).parse(homes ?? []);
  if (names.length === 0) await requireCell(deps);
  return names.sort().map((home) => ({ provider: home.slice(0, home.indexOf(":")), pool: poolOfHome(home) }));
}
