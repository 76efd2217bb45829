// The sweep of leases: takes back what expired ones hold, in every pool, so that no unit stays hidden behind older ones.
import type { Deps } from "../deps.ts";
import { reclaim } from "../scripts/pool/reclaim.ts";
import { runMany } from "../scripts/run.ts";
import { type PoolName, poolsOf } from "./names.ts";

/** Leases that one script takes back (lua/lib/reclaim.lua), and scripts in one round trip. */
const STEP = 64;
const CHUNK = 50;
const ROUNDS = 20;

/** At most 1,280 leases a pool; what is left waits for the next run, or for an allocation that needs it. */
export async function sweepLeases(deps: Deps) {
  const report = { leases_reclaimed: 0, pools_failed: 0 };
  let pools: PoolName[] = await poolsOf({
    store: deps.backgroundStore(),
    keys: deps.keys,
    settings: deps.settings,
  });
  for (let round = 0; round < ROUNDS && pools.length > 0; round++) {
    const full: PoolName[] = [];
    for (let from = 0; from < pools.length; from += CHUNK) {
      const chunk = pools.slice(from, from + CHUNK);
      const inputs = chunk.map(({ provider, pool }) => ({ keys: deps.keys.pool(provider, pool), args: {} }));
      const replies = await runMany(deps.backgroundStore(), reclaim, inputs);
      for (const [i, reply] of replies.entries()) {
        const pool = chunk[i];
        if (reply instanceof Error) report.pools_failed++;
        else if (reply.kind === "reclaimed") report.leases_reclaimed += reply.leases;
        if (pool && !(reply instanceof Error) && reply.kind === "reclaimed" && reply.leases === STEP)
          full.push(pool);
      }
    }
    pools = full;
  }
  return report;
}
