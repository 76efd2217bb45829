-- Settle (or void) and release in one: the charge, the credential's unit, its health.
--
-- tenant_key  tenant:<tenant>             hold_key     hold:<tenant>:<call>    due_key  due:<shard>
-- journal_key journal:<shard>             pool_key     pool:<provider>:<pool>
-- leases_key  pool:<provider>:<pool>:leases
-- how is settled or voided; outcome and retry_after_ms are those of lease/release; note is JSON for the journal.
--
-- finished   charged returned debt released replayed   released 0: its lease was over before
-- closed     state charged                             it has ended before, in another way
-- mismatch                                             it is not a call on that credential of that pool
-- unsafe                                               the debt would not stay an exact integer
-- not_found                                            no such call, or its sub-account is gone
-- absent                                               no such tenant
local tenant_key, hold_key, due_key     = KEYS[1], KEYS[2], KEYS[3]
local journal_key, pool_key, leases_key = KEYS[4], KEYS[5], KEYS[6]
local tenant, call_id, home             = ARGV[1], ARGV[2], ARGV[3]
local credential_id, fingerprint        = ARGV[4], ARGV[5]
local how, amount                       = ARGV[6], tonumber(ARGV[7])
local outcome, retry_after_ms           = ARGV[8], tonumber(ARGV[9])
local note, keep_ms                     = ARGV[10], tonumber(ARGV[11])

local now = now_ms()
local hold = decode_hold(redis.call("GET", hold_key))

local function answer(released, replayed)
  return reply("finished", hold.charged, funding_text(hold.returned), hold.debt, released, replayed)
end

local late_print = fingerprint .. "!" -- of one whose lease was over before
if hold and hold.state == how and hold.end_print == fingerprint then return answer(1, 1) end
if hold and hold.state == how and hold.end_print == late_print then return answer(0, 1) end
local t, missing = tenant_of(hold, tenant_key, tenant)
if not t then return missing end
local lease, charged_before = hold.lease, hold.charged
if not lease or hold.home ~= home or lease.credential ~= credential_id then return reply("mismatch") end
local refusal = plan_end(t, hold, how, amount, late_print)
if not refusal and t.purse.funded + t.purse.debt > MAX_AMOUNT then return reply("unsafe") end

-- The unit comes back also when the hold has ended before: by its own deadline, or by a plain settle.
local m = read_member(pool_key, credential_id)
local held = m.pool and standing(lease, m.credential, lease.expires_at_ms, now) == "held"
local fields
if held then
  plan_release(m, lease, outcome, retry_after_ms, now)
  m.pool.released, lease.expires_at_ms = m.pool.released + 1, now
  if not refusal then hold.end_print = fingerprint end
  fields = member_fields(m)
end
if refusal and held then redis.call("SET", hold_key, encode_hold(hold), "KEEPTTL") end
local kind = how == "settled" and "settle" or "void"
local packed = not refusal and pack_end(t, hold, kind, "internal", call_id, amount - charged_before, note, now)
if packed then apply_end(packed, tenant_key, hold_key, due_key, journal_key, due_member(tenant, call_id), now + keep_ms) end
if held then
  redis.call("HSET", pool_key, unpack(fields))
  redis.call("ZREM", leases_key, call_member(lease, tenant, call_id))
end
return refusal or answer(held and 1 or 0, 0)
