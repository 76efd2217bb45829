-- Give an open hold more time; it may grow, and may say what its call has used so far. Nothing is ever made less.
--
-- tenant_key  tenant:<tenant>    hold_key  hold:<tenant>:<hold>    due_key  due:<shard>
-- amount is the whole of what is to be held, accrued what is used up so far; 0 leaves them as they are.
--
-- extended   amount funding accrued expires_at_ms
-- frozen     what                         tenant or sub_account: it grows no more
-- exhausted  scope requested available    debt, sub_account (its borrow cap) or account: which of them refuses
-- closed     state charged                it has ended
-- not_found                               no such hold, or its sub-account is gone
-- absent                                  no such tenant
local tenant_key, hold_key, due_key = KEYS[1], KEYS[2], KEYS[3]
local tenant, hold_id               = ARGV[1], ARGV[2]
local ttl_ms, amount                = tonumber(ARGV[3]), tonumber(ARGV[4])
local accrued                       = tonumber(ARGV[5])

local now = now_ms()
local hold = decode_hold(redis.call("GET", hold_key))
local t, missing = tenant_of(hold, tenant_key, tenant)
if not t then return missing end
if hold.state ~= "open" then return reply("closed", hold.state, hold.charged) end

local more = math.max(0, amount - hold.amount)
local refusal = plan_growth(t, tenant_key, hold, more)
if refusal then return refusal end
hold.amount, hold.accrued = hold.amount + more, math.max(hold.accrued, accrued)
hold.expires_at_ms = math.max(hold.expires_at_ms, now + ttl_ms)
local text, fields = encode_hold(hold), tenant_fields(t)
redis.call("SET", hold_key, text)
if more > 0 then redis.call("HSET", tenant_key, unpack(fields)) end
redis.call("ZADD", due_key, hold.expires_at_ms, due_member(tenant, hold_id))
return reply("extended", hold.amount, funding_text(hold.funding), hold.accrued, hold.expires_at_ms)
