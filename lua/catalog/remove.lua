-- Forget a price or the routes of a model.
--
-- catalog_key  catalog    journal_key  journal:<shard>
-- field is `price:<provider>/<model>` or `model:<name>`; note is JSON for the journal.
--
-- removed
-- not_found
local catalog_key, journal_key = KEYS[1], KEYS[2]
local field, note              = ARGV[1], ARGV[2]

local now = now_ms()
local read = redis.call("HMGET", catalog_key, "@catalog", field)
local catalog, before = decode_catalog(read[1]), read[2]
if not before then return reply("not_found") end
catalog.entries = catalog.entries - 1
local entry = catalog_entry(catalog, "removed", before, note, now)
redis.call("HDEL", catalog_key, field)
redis.call("HSET", catalog_key, "@catalog", encode_catalog(catalog))
redis.call("XADD", journal_key, unpack(entry))
return reply("removed")
