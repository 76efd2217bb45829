-- Delete a tenant with its sub-accounts and their tokens. What is left in its purses goes with it, and the journal says so.
--
-- tenant_key   tenant:<tenant>    subs_key  tenant:<tenant>:subs
-- index_key    index:tenants      journal_key  journal:<shard>
-- note is JSON for the journal.
--
-- removed   subs
-- held      open    that many of its holds are open
-- too_many  subs    more sub-accounts than one script may take away: delete some first
-- absent            no such tenant
local tenant_key, subs_key   = KEYS[1], KEYS[2]
local index_key, journal_key = KEYS[3], KEYS[4]
local tenant, note           = ARGV[1], ARGV[2]

local MOST = 1000
local now = now_ms()
local t = tenant_open(tenant_key, tenant, "")
if not t then return reply("absent") end
local subs = t.state.subs
if t.state.open > 0 then return reply("held", t.state.open) end
if subs > MOST then return reply("too_many", subs) end

close_purse(t.account)
t.state.seq, t.state.subs = t.state.seq + 1, 0
local purses = { t.account }
local names = redis.call("ZRANGE", subs_key, 0, -1)
for i, name in ipairs(names) do names[i] = "purse:" .. name end
for i, text in ipairs(#names > 0 and redis.call("HMGET", tenant_key, unpack(names)) or {}) do
  purses[i + 1] = decode_purse(names[i], text)
  close_purse(purses[i + 1])
end
local entry = entry_fields({ kind = "config", aggregate = "tenant:" .. tenant, seq = t.state.seq, at = now, actor = "admin",
  purses = purse_changes(purses),
  detail = string.format('{"change":"removed","tenant":"%s","note":%s}', tenant, note) })
local state = encode_state(t.state)
redis.call("DEL", tenant_key, subs_key)
redis.call("HSET", tenant_key, "state", state)
redis.call("ZREM", index_key, tenant)
redis.call("XADD", journal_key, unpack(entry))
return reply("removed", subs)
