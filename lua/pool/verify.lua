-- What a job found out about a credential's secret: a probe that it works or is refused, a refresh that it cannot be renewed.
-- It counts only for the secret and the status that were looked at, never against an operator's `disabled`, and a bench whose
-- deadline is still to come outlasts it. There is an entry where the status changes; that it was seen to work again is none.
--
-- pool_key     pool:<provider>:<pool>    secrets_key  pool:<provider>:<pool>:secrets
-- journal_key  journal:<shard>
-- home is `<provider>:<pool>`; fingerprint and status are those that were looked at, works is 1 or 0, actor is the job; note is
-- JSON for the journal.
--
-- verified    changed    it works, and is available; changed 0: it was already
-- refused     changed    it is out of service; changed 0: it was already
-- moved                  its secret, its status or its deadline is another by now
-- not_found
-- absent                 no such pool
local pool_key, secrets_key = KEYS[1], KEYS[2]
local journal_key           = KEYS[3]
local home, credential_id   = ARGV[1], ARGV[2]
local fingerprint, status   = ARGV[3], ARGV[4]
local works, actor, note    = ARGV[5] == "1", ARGV[6], ARGV[7]

local id, now = credential_id, now_ms()
local read = redis.call("HMGET", pool_key, "@pool", id)
local pool, credential = decode_pool(read[1]), decode_credential(read[2])
if not pool then return reply("absent") end
if not credential then return reply("not_found") end
local c = credential
local same = c.status == status and status ~= "disabled"
  and string.match(redis.call("HGET", secrets_key, id) or "", "^(%S+) ") == fingerprint
if not same or works and c.until_ms > now then return reply("moved") end

local found = works and "available" or "auth_failed"
local changed = c.status ~= found
if works then c.verified_at_ms = now end
if not changed then
  if not works then return reply("refused", 0) end
  redis.call("HSET", pool_key, id, encode_credential(c))
  return reply("verified", 0)
end
c.status, c.until_ms, c.errors, c.benched_fence = found, 0, 0, pool.fence
local detail = string.format('{"change":"%s","was":"%s","key_id":"%s","note":%s}', found, status, id, note)
local entry = pool_entry(home, pool, "status", now, detail, actor)
redis.call("HSET", pool_key, "@pool", encode_pool(pool), id, encode_credential(c))
redis.call("XADD", journal_key, unpack(entry))
if works then return reply("verified", 1) end
return reply("refused", 1)
