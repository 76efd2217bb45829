-- Extend a lease that is still held: never past its maximum lifetime, never to an earlier end.
--
-- pool_key   pool:<provider>:<pool>           lease_key   lease:<lease>
-- leases_key pool:<provider>:<pool>:leases    home is `<provider>:<pool>`, lease_ms a duration from now
--
-- renewed     expires_at_ms expires_in_ms max_expires_at_ms
-- lease_lost  reason    expired, released, revoked, mismatch, unknown: the holder must stop
-- absent                no such pool, and the lease is unknown
local pool_key, leases_key, lease_key = KEYS[1], KEYS[2], KEYS[3]
local lease_id, home, credential_id   = ARGV[1], ARGV[2], ARGV[3]
local lease_ms                        = tonumber(ARGV[4])

local now = now_ms()
local lease = decode_lease(redis.call("GET", lease_key))
if lease and (lease.home ~= home or lease.credential ~= credential_id) then return reply("lease_lost", "mismatch") end
local read = redis.call("HMGET", pool_key, "@pool", credential_id)
local pool, credential = decode_pool(read[1]), decode_credential(read[2])
if not pool and not lease then return reply("absent") end

local reason, expires_at_ms = "unknown", nil
if lease then
  expires_at_ms = redis.call("ZSCORE", leases_key, member_of(lease, lease_id))
  reason = standing(lease, credential, expires_at_ms, now)
end
if reason ~= "held" then
  if pool then
    pool.lost = pool.lost + 1
    redis.call("HSET", pool_key, "@pool", encode_pool(pool))
  end
  return reply("lease_lost", reason)
end

local ends = math.max(tonumber(expires_at_ms), math.min(now + lease_ms, lease.max_expires_at_ms))
redis.call("ZADD", leases_key, ends, member_of(lease, lease_id))
return reply("renewed", ends, ends - now, lease.max_expires_at_ms)
