-- Forget a credential: state, configuration, secret. Its leases are over; a late report finds nothing to revive.
--
-- pool_key      pool:<provider>:<pool>            config_key    pool:<provider>:<pool>:config
-- secrets_key   pool:<provider>:<pool>:secrets    provider_key  provider:<provider>
-- journal_key   journal:<shard>
-- home is `<provider>:<pool>`; note is JSON for the journal.
--
-- removed    ended    how many leases it ended
-- not_found
-- absent              no such pool
local pool_key, config_key      = KEYS[1], KEYS[2]
local secrets_key, provider_key = KEYS[3], KEYS[4]
local journal_key               = KEYS[5]
local home, pool_name           = ARGV[1], ARGV[2]
local credential_id, note       = ARGV[3], ARGV[4]

local id = credential_id
local read = redis.call("HMGET", pool_key, "@pool", id)
local pool, credential = decode_pool(read[1]), decode_credential(read[2])
if not pool then return reply("absent") end
if not credential then return reply("not_found") end
local fingerprint = string.match(redis.call("HGET", secrets_key, id) or "", "^(%S+) ")
local _, uses = secret_use(fingerprint and redis.call("HGET", provider_key, "fp:" .. fingerprint))

pool.members = pool.members - 1
pool.capacity, pool.in_flight = pool.capacity - credential.capacity, pool.in_flight - credential.in_flight
pool.revoked = pool.revoked + credential.in_flight
local entry = pool_entry(home, pool, "config", now_ms(), string.format('{"change":"removed","key_id":"%s","note":%s}', id, note))
redis.call("HSET", pool_key, "@pool", encode_pool(pool))
redis.call("HDEL", pool_key, id)
redis.call("HDEL", config_key, id)
redis.call("HDEL", secrets_key, id)
redis.call("HDEL", provider_key, "id:" .. id)
if fingerprint then set_secret_use(provider_key, fingerprint, pool_name, uses - 1) end
redis.call("XADD", journal_key, unpack(entry))
return reply("removed", credential.in_flight)
