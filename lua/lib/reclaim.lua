-- Takes back what expired leases hold. It only reads and decides; grant.lua writes.
local RECLAIM = 64 -- expired leases taken back per call

-- Units given back change the head of a state and leave its health alone.
local function with_units_back(state, units)
  local head, in_flight, rest = string.match(state, "^(1 %S+ %d+ %d+) (%d+)(.*)$")
  return string.format("%s %d%s", head, in_flight - units, rest)
end

-- Expired leases give their units back, unless they were revoked or their credential is gone.
local function plan_reclaim(plan, pool_key, leases_key)
  local gone = redis.call("ZRANGE", leases_key, "-inf", plan.now, "BYSCORE", "LIMIT", 0, RECLAIM)
  if #gone == 0 then return false end
  plan.gone = gone
  local ids, fences = {}, {}
  for _, member in ipairs(gone) do
    local id, fence = string.match(member, "^(%S+) (%d+)")
    count_probe(plan.breaker, tonumber(fence), -1)
    if not fences[id] then
      ids[#ids + 1], fences[id] = id, {}
    end
    table.insert(fences[id], tonumber(fence))
  end
  for i, state in ipairs(redis.call("HMGET", pool_key, unpack(ids))) do
    local credential, units = decode_credential(state), 0
    for _, fence in ipairs(fences[ids[i]]) do
      if credential and fence > credential.revoked_fence then units = units + 1 end
    end
    if units > 0 then plan.changed[ids[i]] = with_units_back(state, units) end
    plan.pool.in_flight, plan.pool.reclaimed = plan.pool.in_flight - units, plan.pool.reclaimed + units
  end
  for i, state in ipairs(plan.states) do plan.states[i] = plan.changed[plan.candidates[i]] or state end
  return true
end
