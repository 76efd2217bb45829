// Our way: lease/allocate and lease/release on one credential, with all that a lease is.
import type { Redis } from "ioredis";
import type { Connections } from "../../lib/callers.ts";
import { idsOf, newLeaseId, type Pool, poolOf } from "../../lib/pool.ts";
import { evaluatorOn } from "../../lib/redis.ts";
import type { Way } from "./way.ts";

export function lease(connections: Connections): Way {
  const candidates = idsOf(1);
  const [credential = ""] = candidates;
  let cell = "";
  let pools = new Map<Redis, Pool>();
  const poolFor = (caller: number) => {
    const connection = connections(caller);
    const pool = pools.get(connection) ?? poolOf(evaluatorOn(connection), cell);
    pools.set(connection, pool);
    return pool;
  };
  return {
    name: "Lua, a lease",
    prepare: (units) => {
      cell = newLeaseId(); // a new pool each time
      pools = new Map();
      return poolFor(0).put(credential, units);
    },
    take: async (caller) => {
      const lease_id = newLeaseId();
      const { kind } = await poolFor(caller).allocate(lease_id, candidates);
      return kind === "granted" ? lease_id : undefined;
    },
    give: (caller, lease_id) => poolFor(caller).release(lease_id, credential),
    inUse: () => connections(0).zcard(poolFor(0).leases_key),
  };
}
