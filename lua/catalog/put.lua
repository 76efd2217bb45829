-- Set what the catalog says of a model: its price at a provider, or its routes.
--
-- catalog_key  catalog    journal_key  journal:<shard>
-- field is `price:<provider>/<model>` or `model:<name>`, value JSON kept as it is; note is JSON for the journal.
--
-- created
-- updated
-- unchanged
-- full       entries   the catalog has as many as it may
local catalog_key, journal_key = KEYS[1], KEYS[2]
local field, value, note       = ARGV[1], ARGV[2], ARGV[3]

local MOST, now = 10000, now_ms()
local read = redis.call("HMGET", catalog_key, "@catalog", field)
local catalog, before = decode_catalog(read[1]), read[2]
if before == value then return reply("unchanged") end
if not before and catalog.entries >= MOST then return reply("full", catalog.entries) end
if not before then catalog.entries = catalog.entries + 1 end
local entry = catalog_entry(catalog, before and "updated" or "created", value, note, now)
redis.call("HSET", catalog_key, field, value, "@catalog", encode_catalog(catalog))
redis.call("XADD", journal_key, unpack(entry))
if before then return reply("updated") end
return reply("created")
