-- Create a tenant, or change its configuration: a compare-and-set, so that two operators lose nothing of each other.
--
-- tenant_key   tenant:<tenant>    index_key  index:tenants
-- journal_key  journal:<shard>
-- config_before is what was read, empty for a tenant that is not there yet; config is JSON kept as it is; kind is the entry's:
-- config or status; note is JSON for the journal.
--
-- created
-- updated
-- unchanged
-- exists      there is one, with another configuration
-- stale       the configuration is not config_before any more: read it again
-- absent      no such tenant
local tenant_key, index_key, journal_key = KEYS[1], KEYS[2], KEYS[3]
local tenant, config_before, config      = ARGV[1], ARGV[2], ARGV[3]
local kind, note                         = ARGV[4], ARGV[5]

local now = now_ms()
local t = tenant_open(tenant_key, tenant, "")
if t and t.config == config then return reply("unchanged") end
if t and config_before == "" then return reply("exists") end
if not t and config_before ~= "" then return reply("absent") end
if t and t.config ~= config_before then return reply("stale") end

local created = not t
if created then
  local state = decode_state(redis.call("HGET", tenant_key, "state"))
  t = { name = tenant, sub_account = "", state = state, account = new_purse("account", state.seq + 1) }
end
local detail = string.format('{"change":"%s","tenant":"%s","config":%s,"note":%s}', created and "created" or "updated", tenant, config, note)
local fields, entry = tenant_change(t, { kind = kind, actor = "admin", detail = detail }, now)
if created then redis.call("ZADD", index_key, 0, tenant) end
redis.call("HSET", tenant_key, "config", config, unpack(fields))
redis.call("XADD", journal_key, unpack(entry))
if created then return reply("created") end
return reply("updated")
