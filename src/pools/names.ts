// Which pools the cell has.
import { z } from "zod";
import { requireCell } from "../cell/meta.ts";
import type { Deps } from "../deps.ts";
import { poolOfHome } from "../keys.ts";

export interface PoolName {
  readonly provider: string;
  readonly pool: string;
}

/** Part by part, so that no separator decides the order. */
export function compare(a: readonly string[], b: readonly string[]): number {
  for (const [i, part] of a.entries()) {
    if (part !== b[i]) return part < (b[i] ?? "") ? -1 : 1;
  }
  return 0;
}

/** All pools, in order of provider and pool. Throws StoreUnavailable when there are none because the database is no cell. */
export async function poolsOf(deps: Pick<Deps, "store" | "keys" | "settings">): Promise<PoolName[]> {
  const [homes] = await deps.store.read((p) => p.hkeys(deps.keys.index("pools")));
  const names = z.array(z.string()).parse(homes ?? []);
  if (names.length === 0) await requireCell(deps);
  return names
    .map((home) => ({ provider: home.slice(0, home.indexOf(":")), pool: poolOfHome(home) }))
    .sort((a, b) => compare([a.provider, a.pool], [b.provider, b.pool]));
}
