-- End all leases of a credential at once: those with a fence up to the pool's present one are over. Their holders learn it at
-- their next renewal; their members leave the set at their term and free nothing.
--
-- pool_key  pool:<provider>:<pool>    journal_key  journal:<shard>
-- home is `<provider>:<pool>`; note is JSON for the journal.
--
-- revoked    ended    how many it ended
-- not_found
-- absent              no such pool
local pool_key, journal_key = KEYS[1], KEYS[2]
local home, credential_id   = ARGV[1], ARGV[2]
local note                  = ARGV[3]

local read = redis.call("HMGET", pool_key, "@pool", credential_id)
local pool, credential = decode_pool(read[1]), decode_credential(read[2])
if not pool then return reply("absent") end
if not credential then return reply("not_found") end
local ended = credential.in_flight
pool.in_flight, pool.revoked = pool.in_flight - ended, pool.revoked + ended
credential.in_flight, credential.revoked_fence = 0, pool.fence
local entry = pool_entry(home, pool, "status", now_ms(),
  string.format('{"change":"revoked","key_id":"%s","fence":%.0f,"leases":%.0f,"note":%s}', credential_id, pool.fence, ended, note))
redis.call("HSET", pool_key, "@pool", encode_pool(pool), credential_id, encode_credential(credential))
redis.call("XADD", journal_key, unpack(entry))
return reply("revoked", ended)
