-- Undo an admission as if it had not been, but for what its credential learns from the outcome: hold and unit come back, the record
-- goes, and the same id may be admitted again, with another credential. Nothing was charged, so there is no entry.
--
-- tenant_key  tenant:<tenant>             hold_key    hold:<tenant>:<call>    due_key  due:<shard>
-- pool_key    pool:<provider>:<pool>      leases_key  pool:<provider>:<pool>:leases
-- outcome and retry_after_ms are those of lease/release.
--
-- undone     released        released 0: its lease was over before
-- closed     state charged   it has ended
-- mismatch                   it is not a call on that pool
-- not_found                  no such call, or its sub-account is gone
-- absent                     no such tenant
local tenant_key, hold_key, due_key = KEYS[1], KEYS[2], KEYS[3]
local pool_key, leases_key          = KEYS[4], KEYS[5]
local tenant, call_id, home         = ARGV[1], ARGV[2], ARGV[3]
local outcome, retry_after_ms       = ARGV[4], tonumber(ARGV[5])

local now = now_ms()
local hold = decode_hold(redis.call("GET", hold_key))
local t, missing = tenant_of(hold, tenant_key, tenant)
if not t then return missing end
local lease = hold.lease
if not lease or hold.home ~= home then return reply("mismatch") end
if hold.state ~= "open" then return reply("closed", hold.state, hold.charged) end

charge(t, hold, 0)
t.state.reserved = t.state.reserved - 1
local m = read_member(pool_key, lease.credential)
local held = m.pool and standing(lease, m.credential, lease.expires_at_ms, now) == "held"
if held then
  plan_release(m, lease, outcome, retry_after_ms, now)
  m.pool.granted = m.pool.granted - 1
end
local fields, pool_fields = tenant_fields(t), held and member_fields(m)
redis.call("DEL", hold_key)
redis.call("HSET", tenant_key, unpack(fields))
redis.call("ZREM", due_key, due_member(tenant, call_id))
if held then
  redis.call("HSET", pool_key, unpack(pool_fields))
  redis.call("ZREM", leases_key, call_member(lease, tenant, call_id))
end
return reply("undone", held and 1 or 0)
