-- Add a credential to a pool, or bring one up to date; the first makes the pool. What it carries (leases, health, an
-- operator's `disabled`) outlives the change, but a changed secret ends `auth_failed` and `exhausted`.
--
-- pool_key      pool:<provider>:<pool>            config_key    pool:<provider>:<pool>:config
-- secrets_key   pool:<provider>:<pool>:secrets    provider_key  provider:<provider>
-- index_key     index:pools                       journal_key   journal:<shard>
-- pool_name is the name in provider_key, home `<provider>:<pool>`. status is that of a new credential. config is JSON kept as
-- it is; sealed begins with its sealing key's id and a dot; limits and health are the settings of a
-- new pool; note is JSON for the journal.
--
-- created
-- updated
-- unchanged
-- elsewhere    what pool   its id or its secret is in that pool of the provider already
-- full         members     the pool has as many members as it may have
local pool_key, config_key, secrets_key   = KEYS[1], KEYS[2], KEYS[3]
local provider_key, index_key             = KEYS[4], KEYS[5]
local journal_key                         = KEYS[6]
local home, pool_name, credential_id      = ARGV[1], ARGV[2], ARGV[3]
local status, capacity, config            = ARGV[4], tonumber(ARGV[5]), ARGV[6]
local fingerprint, sealed                 = ARGV[7], ARGV[8]
local limits, health, note                = ARGV[9], ARGV[10], ARGV[11]

local MOST, id = 10000, credential_id
local read = redis.call("HMGET", pool_key, "@pool", id)
local pool, credential = decode_pool(read[1]), decode_credential(read[2])
local change = { config = config, fingerprint = fingerprint, sealed = sealed }
local what, where = plan_secret(change, secrets_key, provider_key, pool_name, id)
if what then return reply("elsewhere", what, where) end
if not credential and pool and pool.members >= MOST then return reply("full", pool.members) end

local same_seal = not change.new_secret and change.seal_before == string.match(sealed, "^([^.]+)%.")
if credential and same_seal and credential.capacity == capacity
  and redis.call("HGET", config_key, id) == config then return reply("unchanged") end

local created, now = not credential, now_ms()
pool = pool or new_pool(now)
credential = credential or new_credential(pool, status)
if change.new_secret then renew_secret(pool, credential) end
pool.members = pool.members + (created and 1 or 0)
set_capacity(pool, credential, capacity)
local entry = pool_entry(home, pool, "config", now, member_detail(created and "created" or "updated", id, credential, change, note))

if not read[1] then redis.call("HSET", index_key, home, now) end
apply_member(change, config_key, secrets_key, provider_key, pool_name, id)
local fields = { "@pool", encode_pool(pool), id, encode_credential(credential) }
if not read[1] then
  for _, value in ipairs({ "@limits", limits, "@health", health, "@made", now }) do fields[#fields + 1] = value end
end
redis.call("HSET", pool_key, unpack(fields))
redis.call("XADD", journal_key, unpack(entry))
if created then return reply("created") end
return reply("updated")
