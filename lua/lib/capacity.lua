-- Decides who gets the next unit of capacity. It only reads; grant.lua writes.
local FIRST, RECLAIM = 4, 64 -- candidates in the first read; expired leases taken back per call

-- The three gates: a member, usable, below its capacity. nil when all are passed; else why not, and until when.
-- Available, or benched with a deadline that has passed; a bench without a deadline does not end by itself.
local function gate(state, limits, now)
  if not state then return "removed", 0 end
  local status, until_ms, capacity, in_flight = string.match(state, "^1 (%S+) (%d+) (%d+) (%d+)")
  if not status then error("the state of a credential cannot be read") end
  until_ms = tonumber(until_ms)
  local restored = limits.recovery == "opportunistic" and until_ms > 0 and until_ms <= now
  if status ~= "available" and not restored then return status, until_ms end
  if tonumber(in_flight) >= tonumber(capacity) then return "full", 0 end
end

local function first_free(plan, from)
  for i = from, #plan.states do
    if not gate(plan.states[i], plan.limits, plan.now) then return i end
  end
end

-- A unit taken or given back changes the head of a state and leaves its health alone.
local function with_unit_taken(state, now)
  local capacity, in_flight, revoked_fence, rest = string.match(state, "^1 %S+ %d+ (%d+) (%d+) (%d+) %d+(.*)$")
  return string.format("1 available 0 %s %d %s %.0f%s", capacity, in_flight + 1, revoked_fence, now, rest)
end

local function with_units_back(state, units)
  local head, in_flight, rest = string.match(state, "^(1 %S+ %d+ %d+) (%d+)(.*)$")
  return string.format("%s %d%s", head, in_flight - units, rest)
end

-- Reads the states of candidates `from` to `to`, behind the fields already named.
local function read_states(plan, pool_key, fields, from, to)
  local head = #fields
  for i = from, to do fields[#fields + 1] = plan.candidates[i] end
  if #fields == 0 then return end
  local read = redis.call("HMGET", pool_key, unpack(fields))
  for i = from, to do plan.states[i] = read[head + 1 + i - from] end
  return read
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
  for i, id in ipairs(plan.candidates) do plan.states[i] = plan.changed[id] or plan.states[i] end
  return true
end

local function plan_open(pool_key, candidates, now)
  local plan = { now = now, candidates = candidates, states = {}, changed = {} }
  local read = read_states(plan, pool_key, { "@limits", "@pool", "@breaker" }, 1, math.min(FIRST, #candidates))
  if not read[2] then return nil end
  local max_lifetime_ms, probes, mode, recovery = string.match(read[1] or "", "^1 (%d+) (%d+) (%S+) (%S+)$")
  if not mode then error("@limits cannot be read") end
  plan.limits = { max_lifetime_ms = tonumber(max_lifetime_ms), probes = tonumber(probes), mode = mode, recovery = recovery }
  plan.pool, plan.breaker = decode_pool(read[2]), decode_breaker(read[3])
  return plan
end

-- Returns a plan, and how it ends: granted, no_capacity, reclaim_due, breaker_open; or absent without a plan.
local function plan_allocate(pool_key, leases_key, candidates, now)
  local plan = plan_open(pool_key, candidates, now)
  if not plan then return nil, "absent" end
  local blocked, found = breaker_blocks(plan.breaker, plan.limits, now), nil
  if not blocked then
    found = first_free(plan, 1)
    if not found and #candidates > FIRST then
      read_states(plan, pool_key, {}, FIRST + 1, #candidates)
      found = first_free(plan, FIRST + 1)
    end
  end
  if not found and plan_reclaim(plan, pool_key, leases_key) then
    blocked = breaker_blocks(plan.breaker, plan.limits, now)
    if not blocked then found = first_free(plan, 1) end
  end
  if found then
    plan.credential = candidates[found]
    plan.changed[plan.credential] = with_unit_taken(plan.states[found], now)
    return plan, "granted"
  end
  if plan.gone and #plan.gone == RECLAIM then return plan, "reclaim_due" end
  return plan, blocked and "breaker_open" or "no_capacity"
end
