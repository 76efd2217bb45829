-- Both heartbeats in one: a lease that is still held and the hold beside it get more time; what is used so far is noted, and the
-- hold may grow. Nothing is ever made less. The holder of a lost lease must stop, and finish the call.
--
-- tenant_key  tenant:<tenant>             hold_key    hold:<tenant>:<call>    due_key  due:<shard>
-- pool_key    pool:<provider>:<pool>      leases_key  pool:<provider>:<pool>:leases
-- lease_ms is for both; amount is the whole of what is to be held, accrued what is used up so far; 0 leaves them as they are.
--
-- renewed     expires_at_ms expires_in_ms max_expires_at_ms amount accrued
-- lease_lost  reason                       expired, revoked: the hold goes on to its deadline
-- frozen      what                         tenant or sub_account: it grows no more
-- exhausted   scope requested available    debt, sub_account (its borrow cap) or account: which of them refuses
-- closed      state charged                it has ended
-- mismatch                                 it is not a call on that credential of that pool
-- not_found                                no such call, or its sub-account is gone
-- absent                                   no such tenant
local tenant_key, hold_key, due_key = KEYS[1], KEYS[2], KEYS[3]
local pool_key, leases_key          = KEYS[4], KEYS[5]
local tenant, call_id, home         = ARGV[1], ARGV[2], ARGV[3]
local credential_id, lease_ms       = ARGV[4], tonumber(ARGV[5])
local amount, accrued               = tonumber(ARGV[6]), tonumber(ARGV[7])

local now = now_ms()
local hold = decode_hold(redis.call("GET", hold_key))
local lease = hold and hold.lease
local more = hold and math.max(0, amount - hold.amount) or 0
local t, missing
if not hold or more > 0 then t, missing = tenant_of(hold, tenant_key, tenant) end
if missing then return missing end
if not lease or hold.home ~= home or lease.credential ~= credential_id then return reply("mismatch") end
if hold.state ~= "open" then return reply("closed", hold.state, hold.charged) end

local read = redis.call("HMGET", pool_key, "@pool", credential_id)
local pool, reason = decode_pool(read[1]), standing(lease, decode_credential(read[2]), lease.expires_at_ms, now)
if reason ~= "held" then
  if pool then
    pool.lost = pool.lost + 1
    redis.call("HSET", pool_key, "@pool", encode_pool(pool))
  end
  return reply("lease_lost", reason)
end
local refusal = plan_growth(t, tenant_key, hold, more)
if refusal then return refusal end
hold.amount, hold.accrued = hold.amount + more, math.max(hold.accrued, accrued)
lease.expires_at_ms = math.max(lease.expires_at_ms, math.min(now + lease_ms, lease.max_expires_at_ms))
hold.expires_at_ms = math.max(hold.expires_at_ms, now + lease_ms)
local text, fields = encode_hold(hold), more > 0 and tenant_fields(t)
redis.call("SET", hold_key, text)
if fields then redis.call("HSET", tenant_key, unpack(fields)) end
redis.call("ZADD", due_key, hold.expires_at_ms, due_member(tenant, call_id))
redis.call("ZADD", leases_key, lease.expires_at_ms, call_member(lease, tenant, call_id))
return reply("renewed", lease.expires_at_ms, lease.expires_at_ms - now, lease.max_expires_at_ms, hold.amount, hold.accrued)
