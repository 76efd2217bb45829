-- Forget a credential: state, configuration, secret. Its leases are over; a late report finds nothing to revive.
--
-- pool_key      pool:<provider>:<pool>            config_key    pool:<provider>:<pool>:config
-- secrets_key   pool:<provider>:<pool>:secrets    provider_key  provider:<provider>
--
-- removed    ended    how many leases it ended
-- not_found
-- absent              no such pool
local pool_key, config_key      = KEYS[1], KEYS[2]
local secrets_key, provider_key = KEYS[3], KEYS[4]
local pool_name, credential_id  = ARGV[1], ARGV[2]

local id = credential_id
local read = redis.call("HMGET", pool_key, "@pool", id)
local pool, credential = decode_pool(read[1]), decode_credential(read[2])
if not pool then return reply("absent") end
if not credential then return reply("not_found") end
local fingerprint = string.match(redis.call("HGET", secrets_key, id) or "", "^(%S+) ")
local _, uses = secret_use(fingerprint and redis.call("HGET", provider_key, "fp:" .. fingerprint))

pool.seq, pool.members = pool.seq + 1, pool.members - 1
pool.capacity, pool.in_flight = pool.capacity - credential.capacity, pool.in_flight - credential.in_flight
pool.revoked = pool.revoked + credential.in_flight
redis.call("HSET", pool_key, "@pool", encode_pool(pool))
redis.call("HDEL", pool_key, id)
redis.call("HDEL", config_key, id)
redis.call("HDEL", secrets_key, id)
redis.call("HDEL", provider_key, "id:" .. id)
if fingerprint then set_secret_use(provider_key, fingerprint, pool_name, uses - 1) end
return reply("removed", credential.in_flight)
