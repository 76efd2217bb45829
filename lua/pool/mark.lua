-- The operator's word on a credential: `disabled` holds against all automation, `available` clears any bench. Its leases go on.
--
-- pool_key  pool:<provider>:<pool>
--
-- marked     in_flight changed   how many leases go on; changed 0: it was so already
-- not_found
-- absent                         no such pool
local pool_key              = KEYS[1]
local credential_id, status = ARGV[1], ARGV[2]

local read = redis.call("HMGET", pool_key, "@pool", credential_id)
local pool, credential = decode_pool(read[1]), decode_credential(read[2])
if not pool then return reply("absent") end
if not credential then return reply("not_found") end
local c = credential
if c.status == status and c.until_ms == 0 and c.errors == 0 then return reply("marked", c.in_flight, 0) end
pool.seq = pool.seq + 1
c.status, c.until_ms, c.errors, c.benched_fence = status, 0, 0, pool.fence
redis.call("HSET", pool_key, "@pool", encode_pool(pool), credential_id, encode_credential(c))
return reply("marked", c.in_flight, 1)
