-- Undo an admission as if it had not been, but for what its credential learns from the outcome: hold and unit come back, the record
-- goes, and the same id may be admitted again, with another credential. Nothing was charged, so there is no entry; unless what
-- comes back pays a debt, which changes an amount: then the call is void, and its id is used up.
--
-- tenant_key  tenant:<tenant>             hold_key    hold:<tenant>:<call>    due_key  due:<shard>
-- pool_key    pool:<provider>:<pool>      leases_key  pool:<provider>:<pool>:leases
-- journal_key journal:<shard>
-- outcome and retry_after_ms are those of lease/release; note is JSON for the journal, keep_ms a duration.
--
-- undone     released        released 0: its lease was over before
-- closed     state charged   it has ended
-- mismatch                   it is not a call on that pool
-- not_found                  no such call, or its sub-account is gone
-- absent                     no such tenant
local tenant_key, hold_key, due_key = KEYS[1], KEYS[2], KEYS[3]
local pool_key, leases_key          = KEYS[4], KEYS[5]
local journal_key                   = KEYS[6]
local tenant, call_id, home         = ARGV[1], ARGV[2], ARGV[3]
local outcome, retry_after_ms       = ARGV[4], tonumber(ARGV[5])
local note, keep_ms                 = ARGV[6], tonumber(ARGV[7])

local now = now_ms()
local hold = decode_hold(redis.call("GET", hold_key))
local t, missing = tenant_of(hold, tenant_key, tenant)
if not t then return missing end
local lease = hold.lease
if not lease or hold.home ~= home then return reply("mismatch") end
if hold.state ~= "open" then return reply("closed", hold.state, hold.charged) end

local owed = t.purse.debt
plan_end(t, hold, "voided", 0, "-")
local pays = t.purse.debt < owed
if not pays then t.state.reserved = t.state.reserved - 1 end
local m = read_member(pool_key, lease.credential)
local held = m.pool and standing(lease, m.credential, lease.expires_at_ms, now) == "held"
if held then
  plan_release(m, lease, outcome, retry_after_ms, now)
  m.pool.granted, lease.expires_at_ms = m.pool.granted - 1, now
end
local member, pool_fields = due_member(tenant, call_id), held and member_fields(m)
if pays then
  local packed = pack_end(t, hold, "void", "internal", call_id, 0, note, now)
  apply_end(packed, tenant_key, hold_key, due_key, journal_key, member, now + keep_ms)
else
  local fields = tenant_fields(t)
  redis.call("DEL", hold_key)
  redis.call("HSET", tenant_key, unpack(fields))
  redis.call("ZREM", due_key, member)
end
if held then
  redis.call("HSET", pool_key, unpack(pool_fields))
  redis.call("ZREM", leases_key, call_member(lease, tenant, call_id))
end
return reply("undone", held and 1 or 0)
