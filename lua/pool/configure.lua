-- Change a pool's settings: a compare-and-set, so that two operators lose nothing of each other.
--
-- pool_key     pool:<provider>:<pool>    config_key  pool:<provider>:<pool>:config
-- journal_key  journal:<shard>
-- settings_before is what was read (empty: the defaults), settings the whole of it as JSON; limits and health are the parts
-- that other scripts read. home is `<provider>:<pool>`; note is JSON for the journal.
--
-- configured
-- stale        the settings are not settings_before any more: read them again
-- absent       no such pool
local pool_key, config_key      = KEYS[1], KEYS[2]
local journal_key               = KEYS[3]
local home                      = ARGV[1]
local settings_before, settings = ARGV[2], ARGV[3]
local limits, health, note      = ARGV[4], ARGV[5], ARGV[6]

local pool = decode_pool(redis.call("HGET", pool_key, "@pool"))
if not pool then return reply("absent") end
if (redis.call("HGET", config_key, "@settings") or "") ~= settings_before then return reply("stale") end
local entry = pool_entry(home, pool, "config", now_ms(), string.format('{"change":"configured","settings":%s,"note":%s}', settings, note))
redis.call("HSET", config_key, "@settings", settings)
redis.call("HSET", pool_key, "@pool", encode_pool(pool), "@limits", limits, "@health", health)
redis.call("XADD", journal_key, unpack(entry))
return reply("configured")
