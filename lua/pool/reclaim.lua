-- Take back what expired leases of a pool hold, 64 at a time: the sweeper's verb. An allocation does the same when it must.
--
-- pool_key  pool:<provider>:<pool>    leases_key  pool:<provider>:<pool>:leases
--
-- reclaimed  leases   how many had expired; 64: there may be more
-- absent              no such pool
local pool_key, leases_key = KEYS[1], KEYS[2]

local read = redis.call("HMGET", pool_key, "@pool", "@breaker")
if not read[1] then return reply("absent") end
local plan = { now = now_ms(), pool = decode_pool(read[1]), breaker = decode_breaker(read[2]), candidates = {}, states = {}, changed = {} }
if not plan_reclaim(plan, pool_key, leases_key) then return reply("reclaimed", 0) end
write_pool(plan, pool_key, leases_key)
return reply("reclaimed", #plan.gone)
