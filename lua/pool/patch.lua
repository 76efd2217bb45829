-- Change a part of a credential: a compare-and-set on its configuration, so that two operators lose nothing of each other.
--
-- pool_key      pool:<provider>:<pool>            config_key    pool:<provider>:<pool>:config
-- secrets_key   pool:<provider>:<pool>:secrets    provider_key  provider:<provider>
-- journal_key   journal:<shard>
-- config_before is the configuration that was read, fingerprint_before the secret that it goes with (empty: whichever). home is
-- `<provider>:<pool>`; capacity, fingerprint and sealed are empty where they stay; actor is admin, or refresh for the same
-- account with another token; note is JSON for the journal.
--
-- patched
-- stale                    the configuration or the secret is another by now: read it again
-- elsewhere    what pool   the secret is in that pool of the provider already
-- not_found
-- absent                   no such pool
local pool_key, config_key       = KEYS[1], KEYS[2]
local secrets_key, provider_key  = KEYS[3], KEYS[4]
local journal_key                = KEYS[5]
local home, pool_name            = ARGV[1], ARGV[2]
local credential_id              = ARGV[3]
local config_before, config      = ARGV[4], ARGV[5]
local fingerprint_before         = ARGV[6]
local capacity                   = tonumber(ARGV[7])
local fingerprint, sealed        = ARGV[8], ARGV[9]
local actor, note                = ARGV[10], ARGV[11]

local id = credential_id
local read = redis.call("HMGET", pool_key, "@pool", id)
local pool, credential = decode_pool(read[1]), decode_credential(read[2])
if not pool then return reply("absent") end
if not credential then return reply("not_found") end
if redis.call("HGET", config_key, id) ~= config_before then return reply("stale") end
local change = { config = config }
if sealed ~= "" then change.fingerprint, change.sealed = fingerprint, sealed end
local what, where = plan_secret(change, secrets_key, provider_key, pool_name, id)
if fingerprint_before ~= "" and change.print_before ~= fingerprint_before then return reply("stale") end
if what then return reply("elsewhere", what, where) end

if change.new_secret then renew_secret(pool, credential, actor == "refresh") end
if capacity then set_capacity(pool, credential, capacity) end
local detail = member_detail("updated", id, credential, change, note)
local entry = pool_entry(home, pool, "config", now_ms(), detail, actor)

apply_member(change, config_key, secrets_key, provider_key, pool_name, id)
redis.call("HSET", pool_key, "@pool", encode_pool(pool), id, encode_credential(credential))
redis.call("XADD", journal_key, unpack(entry))
return reply("patched")
