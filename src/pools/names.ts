// Which pools the cell has.
import { z } from "zod";
import type { Deps } from "../deps.ts";
import { poolOfHome } from "../keys.ts";

export interface PoolName {
  readonly provider: string;
  readonly pool: string;
}

/** All pools, in order of name, by one plain read. */
export async function poolsOf(deps: Deps): Promise<PoolName[]> {
  const [homes] = await deps.store.read((p) => p.hkeys(deps.keys.index("pools")));
  return z
    .array(z.string())
    .parse(homes ?? [])
    .sort()
    .map((home) => ({ provider: home.slice(0, home.indexOf(":")), pool: poolOfHome(home) }));
}
