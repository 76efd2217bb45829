-- Give a sub-account one more token, of which only the SHA-256 is stored.
--
-- tenant_key  tenant:<tenant>    journal_key  journal:<shard>
-- name is the operator's; no two of a sub-account have the same. note is JSON for the journal.
--
-- added      made_at_ms
-- named                   it has a token of that name
-- full       tokens       it has as many as it may
-- not_found               no such sub-account
-- absent                  no such tenant
local tenant_key, journal_key       = KEYS[1], KEYS[2]
local tenant, sub_account, token_id = ARGV[1], ARGV[2], ARGV[3]
local sha256, name, note            = ARGV[4], ARGV[5], ARGV[6]

local MOST, now, field = 100, now_ms(), "tokens:" .. sub_account
local t = tenant_open(tenant_key, tenant, sub_account, field)
if not t then return reply("absent") end
if not t.purse then return reply("not_found") end
local tokens = decode_tokens(t.extra)
for _, token in ipairs(tokens) do
  if token.name == name then return reply("named") end
end
if #tokens >= MOST then return reply("full", #tokens) end

tokens[#tokens + 1] = { id = token_id, sha256 = sha256, made_at_ms = now, name = name }
local detail = string.format('{"change":"added","token_id":"%s","sha256":"%s","note":%s}', token_id, sha256, note)
local fields, entry = tenant_change(t, { kind = "token", actor = "admin", detail = detail }, now)
redis.call("HSET", tenant_key, "token:" .. sha256, sub_account, field, encode_tokens(tokens), unpack(fields))
redis.call("XADD", journal_key, unpack(entry))
return reply("added", now)
