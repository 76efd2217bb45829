-- Give a lease back, with the outcome of its call if there is one. Only the release that ends the lease counts.
--
-- pool_key   pool:<provider>:<pool>           lease_key   lease:<lease>
-- leases_key pool:<provider>:<pool>:leases    home is `<provider>:<pool>`
-- outcome is a word of the outcome table or empty, retry_after_ms a duration or empty, keep_ms a duration.
--
-- released
-- not_released  reason    expired, released, revoked, mismatch, unknown: nothing was changed
-- absent                  no such pool, and the lease is unknown
local pool_key, leases_key, lease_key = KEYS[1], KEYS[2], KEYS[3]
local lease_id, home, credential_id   = ARGV[1], ARGV[2], ARGV[3]
local outcome, retry_after_ms         = ARGV[4], tonumber(ARGV[5])
local keep_ms                         = tonumber(ARGV[6])

local now = now_ms()
local lease = decode_lease(redis.call("GET", lease_key))
local m = read_member(pool_key, credential_id)
if not lease then
  if not m.pool then return reply("absent") end
  return reply("not_released", "unknown")
end
if lease.home ~= home or lease.credential ~= credential_id then return reply("not_released", "mismatch") end
local member = member_of(lease, lease_id)
local reason = standing(lease, m.credential, redis.call("ZSCORE", leases_key, member), now)
if reason ~= "held" then return reply("not_released", reason) end

plan_release(m, lease, outcome, retry_after_ms, now)
m.pool.released, lease.state = m.pool.released + 1, "released"

local fields = member_fields(m)
redis.call("SET", lease_key, encode_lease(lease), "PXAT", now + keep_ms)
redis.call("ZREM", leases_key, member)
redis.call("HSET", pool_key, unpack(fields))
return reply("released")
