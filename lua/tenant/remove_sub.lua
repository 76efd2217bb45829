-- Delete a sub-account and its tokens. What is left in its purse goes with it, and the journal says so.
--
-- tenant_key   tenant:<tenant>    subs_key  tenant:<tenant>:subs
-- journal_key  journal:<shard>
-- note is JSON for the journal.
--
-- removed    available   what was left in its purse
-- held       open        that many of its holds are open
-- not_found              no such sub-account
-- absent                 no such tenant
local tenant_key, subs_key, journal_key = KEYS[1], KEYS[2], KEYS[3]
local tenant, sub_account, note         = ARGV[1], ARGV[2], ARGV[3]

local now, tokens_field = now_ms(), "tokens:" .. sub_account
local t = tenant_open(tenant_key, tenant, sub_account, tokens_field)
if not t then return reply("absent") end
if not t.purse then return reply("not_found") end
if t.purse.in_flight > 0 then return reply("held", t.purse.in_flight) end

local available, gone = t.purse.available, { "sub:" .. sub_account, t.purse.field, tokens_field }
for _, token in ipairs(decode_tokens(t.extra)) do gone[#gone + 1] = "token:" .. token.sha256 end
close_purse(t.purse)
t.state.subs = t.state.subs - 1
local fields, entry = tenant_change(t, { kind = "config", actor = "admin",
  detail = string.format('{"change":"removed","note":%s}', note) }, now)
redis.call("HSET", tenant_key, unpack(fields))
redis.call("HDEL", tenant_key, unpack(gone))
redis.call("ZREM", subs_key, sub_account)
redis.call("XADD", journal_key, unpack(entry))
return reply("removed", available)
