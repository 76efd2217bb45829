-- The operator's word on a credential: `disabled` holds against all automation, `available` clears any bench. Its leases go on.
--
-- pool_key  pool:<provider>:<pool>    journal_key  journal:<shard>
-- home is `<provider>:<pool>`; note is JSON for the journal.
--
-- marked     in_flight changed   how many leases go on; changed 0: it was so already
-- not_found
-- absent                         no such pool
local pool_key, journal_key = KEYS[1], KEYS[2]
local home, credential_id   = ARGV[1], ARGV[2]
local status, note          = ARGV[3], ARGV[4]

local read = redis.call("HMGET", pool_key, "@pool", credential_id)
local pool, credential = decode_pool(read[1]), decode_credential(read[2])
if not pool then return reply("absent") end
if not credential then return reply("not_found") end
local c = credential
if c.status == status and c.until_ms == 0 and c.errors == 0 then return reply("marked", c.in_flight, 0) end
c.status, c.until_ms, c.errors, c.benched_fence = status, 0, 0, pool.fence
local entry = pool_entry(home, pool, "status", now_ms(),
  string.format('{"change":"%s","key_id":"%s","note":%s}', status, credential_id, note))
redis.call("HSET", pool_key, "@pool", encode_pool(pool), credential_id, encode_credential(c))
redis.call("XADD", journal_key, unpack(entry))
return reply("marked", c.in_flight, 1)
