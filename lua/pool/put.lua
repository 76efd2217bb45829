-- Add a credential to a pool, or bring one up to date; the first makes the pool. What it carries (leases, health, an
-- operator's `disabled`) outlives the change, but a changed secret ends `auth_failed` and `exhausted`.
--
-- pool_key      pool:<provider>:<pool>            config_key    pool:<provider>:<pool>:config
-- secrets_key   pool:<provider>:<pool>:secrets    provider_key  provider:<provider>
-- index_key     index:pools, home by home
-- pool is the name in provider_key, home `<provider>:<pool>`. status is that of a new credential. config is JSON kept as it
-- is; sealed begins with its sealing key's id and a dot; limits and health are the settings of a new pool.
--
-- created
-- updated
-- unchanged
-- elsewhere    what pool   its id or its secret is in that pool of the provider already
-- full         members     the pool has as many members as it may have
local pool_key, config_key, secrets_key   = KEYS[1], KEYS[2], KEYS[3]
local provider_key, index_key             = KEYS[4], KEYS[5]
local home, pool_name, credential_id      = ARGV[1], ARGV[2], ARGV[3]
local status, capacity, config            = ARGV[4], tonumber(ARGV[5]), ARGV[6]
local fingerprint, sealed                 = ARGV[7], ARGV[8]
local limits, health                      = ARGV[9], ARGV[10]

local MOST, id = 10000, credential_id
local read = redis.call("HMGET", pool_key, "@pool", id, "@limits", "@health")
local pool, credential = decode_pool(read[1]), decode_credential(read[2])
local print_before, sealing_key = string.match(redis.call("HGET", secrets_key, id) or "", "^(%S+) ([^.]+)%.")
local known = redis.call("HMGET", provider_key, "id:" .. id, "fp:" .. fingerprint, "fp:" .. (print_before or ""))
local secret_pool, uses = secret_use(known[2])
local _, uses_before = secret_use(known[3])

if known[1] and known[1] ~= pool_name then return reply("elsewhere", "key_id", known[1]) end
if secret_pool and secret_pool ~= pool_name then return reply("elsewhere", "secret", secret_pool) end
if not credential and pool and pool.members >= MOST then return reply("full", pool.members) end

local created, same_secret = not credential, fingerprint == print_before
local same_seal = same_secret and sealing_key == string.match(sealed, "^([^.]+)%.")
if not created and same_seal and credential.capacity == capacity
  and redis.call("HGET", config_key, id) == config then return reply("unchanged") end

pool = pool or new_pool(now_ms())
credential = credential or new_credential(pool, status)
if not same_secret and (credential.status == "auth_failed" or credential.status == "exhausted") then
  credential.status, credential.until_ms, credential.errors = "available", 0, 0
end
pool.seq, pool.members = pool.seq + 1, pool.members + (created and 1 or 0)
pool.capacity = pool.capacity + capacity - credential.capacity
credential.capacity = capacity

if not read[1] then redis.call("HSET", index_key, home, 1) end
redis.call("HSET", provider_key, "id:" .. id, pool_name)
if not same_secret then
  if print_before then set_secret_use(provider_key, print_before, pool_name, uses_before - 1) end
  set_secret_use(provider_key, fingerprint, pool_name, uses + 1)
end
redis.call("HSET", config_key, id, config)
redis.call("HSET", secrets_key, id, fingerprint .. " " .. sealed)
redis.call("HSET", pool_key, "@limits", read[3] or limits, "@health", read[4] or health, "@pool", encode_pool(pool),
  id, encode_credential(credential))
if created then return reply("created") end
return reply("updated")
