-- Charge what a hold's call has used, and give the rest back. Once; after an expiry too, because it was consumed.
--
-- tenant_key  tenant:<tenant>    hold_key     hold:<tenant>:<hold>
-- due_key     due:<shard>        journal_key  journal:<shard>
-- used are rows of model and amount, one for each item of the hold, or none; note is JSON for the journal.
--
-- settled    charged returned debt replayed
-- closed     state charged     it has ended before, in another way
-- mismatch                     used does not name the hold's items
-- unsafe                       the debt would not stay an exact integer
-- not_found                    no such hold, or its sub-account is gone
-- absent                       no such tenant
local tenant_key, hold_key     = KEYS[1], KEYS[2]
local due_key, journal_key     = KEYS[3], KEYS[4]
local tenant, hold_id          = ARGV[1], ARGV[2]
local fingerprint              = ARGV[3]
local amount, used             = tonumber(ARGV[4]), rows(ARGV[5], "model amount")
local note, keep_ms            = ARGV[6], tonumber(ARGV[7])

local now = now_ms()
local hold = decode_hold(redis.call("GET", hold_key))

local function answer(replayed)
  return reply("settled", hold.charged, funding_text(hold.returned), hold.debt, replayed)
end

local function names_items()
  local items = rows(hold.items, "model")
  for i, item in ipairs(items) do
    if not used[i] or used[i].model ~= item.model then return false end
  end
  return #used == #items
end

if hold and hold.state == "settled" and hold.end_print == fingerprint then return answer(1) end
local t, missing = tenant_of(hold, tenant_key, tenant)
if not t then return missing end
local charged_before = hold.charged
local refusal = plan_end(t, hold, "settled", amount, fingerprint)
if refusal then return refusal end
if #used > 0 and not names_items() then return reply("mismatch") end
if t.purse.funded + t.purse.debt > MAX_AMOUNT then return reply("unsafe") end
local packed = pack_end(t, hold, "settle", "internal", hold_id, amount - charged_before, note, now)
apply_end(packed, tenant_key, hold_key, due_key, journal_key, due_member(tenant, hold_id), now + keep_ms)
return answer(0)
