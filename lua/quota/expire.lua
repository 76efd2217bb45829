-- End a hold whose deadline has passed: what had accrued is charged, unconfirmed, and the rest goes back. The sweeper's verb.
--
-- tenant_key  tenant:<tenant>    hold_key     hold:<tenant>:<hold>
-- due_key     due:<shard>        journal_key  journal:<shard>
--
-- expired    charged returned
-- not_due    expires_at_ms     it still has time
-- closed     state charged     it has ended before
-- not_found                    no such hold, or its sub-account is gone: nothing is left to end
-- absent                       no such tenant
local tenant_key, hold_key     = KEYS[1], KEYS[2]
local due_key, journal_key     = KEYS[3], KEYS[4]
local tenant, hold_id          = ARGV[1], ARGV[2]
local keep_ms                  = tonumber(ARGV[3])

local now, member = now_ms(), due_member(tenant, hold_id)
local hold = decode_hold(redis.call("GET", hold_key))
local t, missing = tenant_of(hold, tenant_key, tenant)
if not t then
  redis.call("ZREM", due_key, member)
  return missing
end
if hold.state == "open" and now < hold.expires_at_ms then return reply("not_due", hold.expires_at_ms) end
-- An expiry cannot be refused for what it would owe, so it charges no more than stays an exact integer.
local most = MAX_AMOUNT - t.purse.funded - t.purse.debt + hold.amount -- in this order it stays exact
local refusal = plan_end(t, hold, "expired", math.min(hold.accrued, most), "-")
if refusal then
  redis.call("ZREM", due_key, member)
  return refusal
end
local packed = pack_end(t, hold, "expire", "sweep", hold_id, hold.charged, "{}", now)
apply_end(packed, tenant_key, hold_key, due_key, journal_key, member, now + keep_ms)
return reply("expired", hold.charged, funding_text(hold.returned))
