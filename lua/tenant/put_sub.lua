-- Create a sub-account, or change its configuration: a compare-and-set, so that two operators lose nothing of each other.
--
-- tenant_key   tenant:<tenant>    subs_key  tenant:<tenant>:subs
-- journal_key  journal:<shard>
-- config_before is what was read, empty for a sub-account that is not there yet; config is JSON kept as it is; kind is the
-- entry's: config or status; note is JSON for the journal.
--
-- created
-- updated
-- unchanged
-- exists            there is one, with another configuration
-- stale             the configuration is not config_before any more: read it again
-- full       subs   the tenant has as many sub-accounts as it may
-- not_found         no such sub-account
-- absent            no such tenant
local tenant_key, subs_key, journal_key  = KEYS[1], KEYS[2], KEYS[3]
local tenant, sub_account, config_before = ARGV[1], ARGV[2], ARGV[3]
local config, kind, note                 = ARGV[4], ARGV[5], ARGV[6]

local MOST = 100000
local now = now_ms()
local t = tenant_open(tenant_key, tenant, sub_account)
if not t then return reply("absent") end
if t.purse and t.terms == config then return reply("unchanged") end
if t.purse and config_before == "" then return reply("exists") end
if not t.purse and config_before ~= "" then return reply("not_found") end
if t.purse and t.terms ~= config_before then return reply("stale") end
if not t.purse and t.state.subs >= MOST then return reply("full", t.state.subs) end

local created = not t.purse
if created then
  t.purse, t.state.subs = new_purse("purse:" .. sub_account, t.state.seq + 1), t.state.subs + 1
end
local detail = string.format('{"change":"%s","config":%s,"note":%s}', created and "created" or "updated", config, note)
local fields, entry = tenant_change(t, { kind = kind, actor = "admin", detail = detail }, now)
if created then redis.call("ZADD", subs_key, 0, sub_account) end
redis.call("HSET", tenant_key, "sub:" .. sub_account, config, unpack(fields))
redis.call("XADD", journal_key, unpack(entry))
if created then return reply("created") end
return reply("updated")
