-- Take a token away: whoever comes with it from now on is not known.
--
-- tenant_key  tenant:<tenant>    journal_key  journal:<shard>
-- note is JSON for the journal.
--
-- revoked
-- not_found   no such token of this sub-account
-- absent      no such tenant
local tenant_key, journal_key       = KEYS[1], KEYS[2]
local tenant, sub_account, token_id = ARGV[1], ARGV[2], ARGV[3]
local note                          = ARGV[4]

local now, field = now_ms(), "tokens:" .. sub_account
local t = tenant_open(tenant_key, tenant, sub_account, field)
if not t then return reply("absent") end
local revoked, kept = nil, {}
for _, token in ipairs(decode_tokens(t.extra)) do
  if token.id == token_id then revoked = token else kept[#kept + 1] = token end
end
if not revoked then return reply("not_found") end

local detail = string.format('{"change":"revoked","token_id":"%s","sha256":"%s","note":%s}', token_id, revoked.sha256, note)
local fields, entry = tenant_change(t, { kind = "token", actor = "admin", detail = detail }, now)
redis.call("HSET", tenant_key, field, encode_tokens(kept), unpack(fields))
redis.call("HDEL", tenant_key, "token:" .. revoked.sha256)
redis.call("XADD", journal_key, unpack(entry))
return reply("revoked")
