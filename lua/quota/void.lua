-- Cancel an open hold: everything goes back, nothing is charged.
--
-- tenant_key  tenant:<tenant>    hold_key     hold:<tenant>:<hold>
-- due_key     due:<shard>        journal_key  journal:<shard>
-- note is JSON for the journal.
--
-- voided     returned replayed
-- closed     state charged       it has ended before, in another way
-- not_found                      no such hold, or its sub-account is gone
-- absent                         no such tenant
local tenant_key, hold_key     = KEYS[1], KEYS[2]
local due_key, journal_key     = KEYS[3], KEYS[4]
local tenant, hold_id          = ARGV[1], ARGV[2]
local note, keep_ms            = ARGV[3], tonumber(ARGV[4])

local now = now_ms()
local hold = decode_hold(redis.call("GET", hold_key))
if hold and hold.state == "voided" then return reply("voided", funding_text(hold.returned), 1) end
local t, missing = tenant_of(hold, tenant_key, tenant)
if not t then return missing end
local refusal = plan_end(t, hold, "voided", 0, "-")
if refusal then return refusal end
local packed = pack_end(t, hold, "void", "internal", hold_id, 0, note, now)
apply_end(packed, tenant_key, hold_key, due_key, journal_key, due_member(tenant, hold_id), now + keep_ms)
return reply("voided", funding_text(hold.returned), 0)
