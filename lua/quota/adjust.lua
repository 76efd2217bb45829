-- An operator puts into a purse, takes out of it, or sets what it has. What is held stays held. Once by its op_id.
--
-- tenant_key   tenant:<tenant>    op_key  op:<tenant>:<op>
-- journal_key  journal:<shard>
-- sub_account is empty for the account; how is grant, deduct, set or zero; note is JSON for the journal.
--
-- adjusted      by available debt replayed   by is what came in, or below zero what went out
-- conflict                                   the op_id was used with other arguments
-- insufficient  available                    a deduct would go below zero
-- unsafe                                     the sum would not stay an exact integer
-- not_found                                  no such sub-account
-- absent                                     no such tenant
local tenant_key, op_key, journal_key = KEYS[1], KEYS[2], KEYS[3]
local tenant, sub_account, op_id      = ARGV[1], ARGV[2], ARGV[3]
local fingerprint, how, note          = ARGV[4], ARGV[5], ARGV[6]
local amount, keep_ms                 = tonumber(ARGV[7]), tonumber(ARGV[8])

local now = now_ms()

-- How much comes in; below zero, goes out. What is set is what there is afterwards, so a debt is paid first.
local function change_of(purse)
  if how == "grant" then return amount end
  if how == "deduct" then return 0 - amount end -- never -0
  return (how == "set" and amount or 0) - purse.available + purse.debt
end

local function plan(t)
  if not t then return reply("absent") end
  local purse = t.purse or t.account
  if sub_account ~= "" and not t.purse then return reply("not_found") end
  local by = change_of(purse)
  if how == "deduct" and purse.available < amount then return reply("insufficient", purse.available) end
  if purse.funded + by > MAX_AMOUNT then return reply("unsafe") end
  purse.funded = purse.funded + by
  if by >= 0 then credit(purse, by) else purse.available = purse.available + by end
  return nil, purse, by
end

local t = tenant_open(tenant_key, tenant, sub_account)
local refusal, purse, by = plan(t)
if not refusal then
  local fields, entry = tenant_change(t, { kind = "adjust", actor = "admin", op = op_id, amount = by,
    detail = string.format('{"kind":"%s","note":%s}', how, note) }, now)
  local answer = string.format("%.0f %.0f %.0f", by, purse.available, purse.debt)
  if claim_op(op_key, fingerprint, answer, now + keep_ms) then
    redis.call("HSET", tenant_key, unpack(fields))
    redis.call("XADD", journal_key, unpack(entry))
    return reply("adjusted", by, purse.available, purse.debt, 0)
  end
end
local earlier, other = earlier_op(op_key, fingerprint)
if other then return reply("conflict") end
if not earlier then return refusal end
local came, available, debt = string.match(earlier, "^(%-?%d+) (%d+) (%d+)$")
return reply("adjusted", tonumber(came), tonumber(available), tonumber(debt), 1)
