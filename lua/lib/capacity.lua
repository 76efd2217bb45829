-- Decides who gets the next unit of capacity. It only reads; grant.lua writes.
local FIRST = 4 -- candidates in the first read

-- The three gates: a member, usable, below its capacity. nil when all are passed; else why not, and until when.
-- Available, or benched with a deadline that has passed; a bench without a deadline does not end by itself.
local function gate(state, limits, now)
  if not state then return "removed", 0 end
  local status, until_text, capacity, in_flight = string.match(state, "^1 (%S+) (%d+) (%d+) (%d+)")
  if not status then error("the state of a credential cannot be read") end
  if status ~= "available" then
    local until_ms = tonumber(until_text)
    local restored = limits.recovery == "opportunistic" and until_ms > 0 and until_ms <= now
    if not restored then return status, until_ms end
  end
  if tonumber(in_flight) >= tonumber(capacity) then return "full", 0 end
end

-- Why candidate i does not get the next unit, and until when; nil when it may. A token that is over serves nobody.
local function why_not(plan, i)
  local ends_at_ms = plan.ends[plan.candidates[i]]
  if ends_at_ms and ends_at_ms <= plan.now then return "token_expired", 0 end
  return gate(plan.states[i], plan.limits, plan.now)
end

-- Keeps why the others were passed over, for a refusal.
local function first_free(plan, from)
  for i = from, #plan.states do
    plan.why[i], plan.until_ms[i] = why_not(plan, i)
    if not plan.why[i] then return i end
  end
end

-- Why the whole pool gives nothing: upstream is failing, or what is left is kept from a borrower.
local function pool_blocks(plan)
  if breaker_blocks(plan.breaker, plan.limits, plan.now) then return "breaker_open" end
  local reserved = plan.borrowed and plan.limits.reserved or 0
  if reserved > 0 and plan.pool.capacity - plan.pool.in_flight <= reserved then return "reserved" end
end

-- A unit taken changes the head of a state and leaves its health alone.
local function with_unit_taken(state, now)
  local capacity, in_flight, revoked_fence, rest = string.match(state, "^1 %S+ %d+ (%d+) (%d+) (%d+) %d+(.*)$")
  return string.format("1 available 0 %s %d %s %.0f%s", capacity, in_flight + 1, revoked_fence, now, rest)
end

-- Reads the states of candidates `from` to `to`, behind the fields already named.
local function read_states(plan, pool_key, fields, from, to)
  local head = #fields
  for i = from, to do fields[#fields + 1] = plan.candidates[i] end
  local read = redis.call("HMGET", pool_key, unpack(fields))
  for i = from, to do plan.states[i] = plan.changed[plan.candidates[i]] or read[head + 1 + i - from] end
  return read
end

-- The first that is free; the states behind the first read are read only when none of the first is.
local function find_free(plan, pool_key)
  local found = first_free(plan, 1)
  if found or #plan.states == #plan.candidates then return found end
  read_states(plan, pool_key, {}, FIRST + 1, #plan.candidates)
  return first_free(plan, FIRST + 1)
end

-- The state of a candidate that was read already, or nil.
local function state_of(plan, credential)
  for i, id in ipairs(plan.candidates) do
    if id == credential then return plan.states[i] end
  end
end

local function plan_open(pool_key, ask, now)
  local candidates = ask.candidates
  local plan = { now = now, candidates = candidates, ends = ask.ends, borrowed = ask.borrowed,
    states = {}, changed = {}, why = {}, until_ms = {} }
  local read = read_states(plan, pool_key, { "@limits", "@pool", "@breaker" }, 1, math.min(FIRST, #candidates))
  if not read[2] then return nil end
  plan.limits = decode_limits(read[1])
  plan.pool, plan.breaker = decode_pool(read[2]), decode_breaker(read[3])
  return plan
end

-- `ask` is { candidates, ends, borrowed }: ids, when the token of some of them ends, whether another pool sent the call.
-- Returns a plan, and how it ends: granted, no_capacity, reclaim_due, breaker_open; or absent without a plan.
local function plan_allocate(pool_key, leases_key, ask, now)
  local plan = plan_open(pool_key, ask, now)
  if not plan then return nil, "absent" end
  local blocked = pool_blocks(plan)
  local found = not blocked and find_free(plan, pool_key)
  if not found and plan_reclaim(plan, pool_key, leases_key) then
    blocked = pool_blocks(plan)
    found = not blocked and find_free(plan, pool_key)
  end
  if found then
    plan.credential = plan.candidates[found]
    plan.changed[plan.credential] = with_unit_taken(plan.states[found], now)
    return plan, "granted"
  end
  if plan.gone and #plan.gone == RECLAIM then return plan, "reclaim_due" end
  plan.blocked = blocked
  return plan, blocked == "breaker_open" and blocked or "no_capacity"
end
