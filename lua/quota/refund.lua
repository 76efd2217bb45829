-- Give back a part of what a settled hold was charged, the last drawn first: what it made its sub-account owe, then to the
-- purses that paid. Once by its op_id, never more than was charged.
--
-- tenant_key  tenant:<tenant>    hold_key  hold:<tenant>:<hold>    journal_key  journal:<shard>
-- note is JSON for the journal.
--
-- refunded     returned left replayed   what went where, and how much can still be refunded
-- conflict                              the op_id was used with another amount
-- not_settled  state                    only what was settled can be refunded
-- too_much     left
-- full         refunds                  the hold has as many refunds as it may
-- not_found                             no such hold, or its sub-account is gone
-- absent                                no such tenant
local tenant_key, hold_key, journal_key = KEYS[1], KEYS[2], KEYS[3]
local tenant, hold_id, op_id            = ARGV[1], ARGV[2], ARGV[3]
local amount, note                      = tonumber(ARGV[4]), ARGV[5]

local MOST = 100
local now = now_ms()
local hold = decode_hold(redis.call("GET", hold_key))
local refunds = hold and rows(hold.refunds, "op_id amount sub_account account left") or {}
for _, earlier in ipairs(refunds) do
  if earlier.op_id == op_id then
    if earlier.amount ~= amount then return reply("conflict") end
    return reply("refunded", funding_text(earlier), earlier.left, 1)
  end
end
local t, missing = tenant_of(hold, tenant_key, tenant)
if not t then return missing end
if hold.state ~= "settled" then return reply("not_settled", hold.state) end
local paid = hold.paid.sub_account + hold.paid.account
local left = paid - amount
if left < 0 then return reply("too_much", paid) end
if #refunds >= MOST then return reply("full", #refunds) end

local owed = math.max(0, hold.debt - (hold.charged - paid)) -- earlier refunds took theirs of it
local returned = give_back(t, hold.paid, amount, "spent", owed)
local row = string.format('["%s",%.0f,%.0f,%.0f,%.0f]', op_id, amount, returned.sub_account, returned.account, left)
hold.refunds = string.sub(hold.refunds, 1, -2) .. (#refunds > 0 and "," or "") .. row .. "]"
local detail = string.format('{"returned":%s,"left":%.0f,"home":"%s","note":%s}', funding_text(returned), left, hold.home, note)
local fields, entry = tenant_change(t, { kind = "refund", actor = "internal", hold = hold_id, op = op_id, amount = -amount,
  detail = detail, metadata = hold.metadata }, now)
local text = encode_hold(hold)
redis.call("SET", hold_key, text, "KEEPTTL")
redis.call("HSET", tenant_key, unpack(fields))
redis.call("XADD", journal_key, unpack(entry))
return reply("refunded", funding_text(returned), left, 0)
