-- Change a pool's settings: a compare-and-set, so that two operators lose nothing of each other.
--
-- pool_key  pool:<provider>:<pool>    config_key  pool:<provider>:<pool>:config
-- settings_before is what was read (empty: the defaults), settings the whole of it as JSON; limits and health are the parts
-- that other scripts read.
--
-- configured
-- stale        the settings are not settings_before any more: read them again
-- absent       no such pool
local pool_key, config_key      = KEYS[1], KEYS[2]
local settings_before, settings = ARGV[1], ARGV[2]
local limits, health            = ARGV[3], ARGV[4]

local pool = decode_pool(redis.call("HGET", pool_key, "@pool"))
if not pool then return reply("absent") end
if (redis.call("HGET", config_key, "@settings") or "") ~= settings_before then return reply("stale") end
pool.seq = pool.seq + 1
redis.call("HSET", config_key, "@settings", settings)
redis.call("HSET", pool_key, "@pool", encode_pool(pool), "@limits", limits, "@health", health)
return reply("configured")
