// The Lua libraries, in the order in which they may use each other, as the sets that scripts are made of.
import breaker from "../../lua/lib/breaker.lua";
import capacity from "../../lua/lib/capacity.lua";
import clock from "../../lua/lib/clock.lua";
import grant from "../../lua/lib/grant.lua";
import health from "../../lua/lib/health.lua";
import lease from "../../lua/lib/lease.lua";
import member from "../../lua/lib/member.lua";
import poolLua from "../../lua/lib/pool.lua";
import reclaim from "../../lua/lib/reclaim.lua";
import registry from "../../lua/lib/registry.lua";
import wire from "../../lua/lib/wire.lua";

const base = [clock, wire];
const pool = [...base, poolLua];
const leases = [...pool, lease];

export const lib = {
  base,
  pool,
  leases,
  allocate: [...leases, breaker, reclaim, capacity, grant],
  release: [...leases, breaker, health],
  members: [...pool, registry, member],
};
