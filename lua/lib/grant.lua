-- The write half of an allocation, and the words of a refusal.
local function write_pool(plan, pool_key, leases_key)
  local fields = { "@pool", encode_pool(plan.pool) }
  if plan.breaker then fields[3], fields[4] = "@breaker", encode_breaker(plan.breaker) end
  for id, state in pairs(plan.changed) do
    fields[#fields + 1], fields[#fields + 2] = id, state
  end
  redis.call("HSET", pool_key, unpack(fields))
  if plan.gone then redis.call("ZREM", leases_key, unpack(plan.gone)) end
end

-- The lease on the credential that was found. It changes only tables; the claim of its id comes next.
local function plan_lease(plan, lease, lease_ms)
  local pool, now = plan.pool, plan.now
  lease.credential, lease.fence, lease.state, lease.granted_at_ms = plan.credential, pool.fence + 1, "held", now
  lease.max_expires_at_ms = math.min(now + plan.limits.max_lifetime_ms, plan.ends[plan.credential] or math.huge)
  lease.expires_at_ms = math.min(now + lease_ms, lease.max_expires_at_ms)
  pool.fence, pool.in_flight, pool.granted = lease.fence, pool.in_flight + 1, pool.granted + 1
  count_probe(plan.breaker, pool.fence, 1)
  return lease
end

local function apply_lease(plan, pool_key, leases_key, member, expires_at_ms)
  write_pool(plan, pool_key, leases_key)
  redis.call("ZADD", leases_key, expires_at_ms, member)
end

-- Counts a refusal. In how many ms something is due back (0: not known), and why nothing was free, as JSON counts.
local function refusal_of(plan, leases_key, kind)
  if kind == "reclaim_due" then return 0, "{}" end
  local counter = plan.blocked == "breaker_open" and "blocked" or plan.blocked or "refused"
  plan.pool[counter] = plan.pool[counter] + 1
  if kind == "breaker_open" then return breaker_due_ms(plan.breaker, plan.limits, plan.now), "{}" end
  local due_at_ms, counts, parts = math.huge, {}, {}
  for i = 1, #plan.candidates do
    local why, until_ms = plan.blocked or plan.why[i], plan.until_ms[i] or 0
    counts[why] = (counts[why] or 0) + 1
    if until_ms > plan.now then due_at_ms = math.min(due_at_ms, until_ms) end
  end
  if not plan.gone then -- after a reclaim the next refusal will know
    local next_end = redis.call("ZRANGE", leases_key, 0, 0, "WITHSCORES")[2]
    if next_end then due_at_ms = math.min(due_at_ms, tonumber(next_end)) end
  end
  for why, count in pairs(counts) do parts[#parts + 1] = string.format('"%s":%d', why, count) end
  table.sort(parts)
  return due_at_ms < math.huge and due_at_ms - plan.now or 0, "{" .. table.concat(parts, ",") .. "}"
end
