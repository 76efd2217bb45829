// The Lua libraries, in the order in which they may use each other, as the sets that scripts are made of.
import breaker from "../../lua/lib/breaker.lua";
import call from "../../lua/lib/call.lua";
import capacity from "../../lua/lib/capacity.lua";
import catalog from "../../lua/lib/catalog.lua";
import clock from "../../lua/lib/clock.lua";
import funds from "../../lua/lib/funds.lua";
import grant from "../../lua/lib/grant.lua";
import health from "../../lua/lib/health.lua";
import hold from "../../lua/lib/hold.lua";
import journal from "../../lua/lib/journal.lua";
import lease from "../../lua/lib/lease.lua";
import member from "../../lua/lib/member.lua";
import once from "../../lua/lib/once.lua";
import planEnd from "../../lua/lib/plan_end.lua";
import planFunds from "../../lua/lib/plan_funds.lua";
import planReserve from "../../lua/lib/plan_reserve.lua";
import poolLua from "../../lua/lib/pool.lua";
import purse from "../../lua/lib/purse.lua";
import reclaim from "../../lua/lib/reclaim.lua";
import registry from "../../lua/lib/registry.lua";
import releaseLua from "../../lua/lib/release.lua";
import tenantLua from "../../lua/lib/tenant.lua";
import token from "../../lua/lib/token.lua";
import wire from "../../lua/lib/wire.lua";

const base = [clock, wire];
const pool = [...base, poolLua];
const leases = [...pool, lease];
const tenant = [...base, journal, purse, tenantLua];
const holds = [...tenant, funds, hold];
const calls = [...holds, poolLua, lease];

export const lib = {
  base,
  pool: [...pool, journal],
  leases,
  allocate: [...leases, breaker, reclaim, capacity, grant],
  release: [...leases, breaker, health, releaseLua],
  members: [...pool, journal, registry, member],
  admit: [...calls, breaker, reclaim, capacity, grant, planFunds, planReserve, call],
  renewCall: [...calls, planFunds],
  finish: [...calls, breaker, health, releaseLua, planEnd],
  undoCall: [...calls, breaker, health, releaseLua, planEnd],
  catalog: [...base, journal, catalog],
  tenant,
  tokens: [...tenant, token],
  adjust: [...tenant, once],
  reserve: [...holds, breaker, planFunds, planReserve],
  extend: [...holds, planFunds],
  end: [...holds, planEnd],
  refund: holds,
};
