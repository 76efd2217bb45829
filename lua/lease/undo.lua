-- Undo a grant as if it had not been: its unit comes back and its record goes, so that the same id may be granted again.
-- For a caller who never got the lease, and for a secret that cannot be opened (`bench` 1: its credential is auth_failed).
--
-- pool_key   pool:<provider>:<pool>           lease_key   lease:<lease>
-- leases_key pool:<provider>:<pool>:leases    home is `<provider>:<pool>`
-- spend_ms is how long an id that is not known yet is spent: its grant may still be on its way, and must find nothing to
-- claim. 0 leaves it free.
--
-- undone
-- not_held    reason    expired, released, revoked, mismatch, unknown: no lease was changed
local pool_key, leases_key, lease_key = KEYS[1], KEYS[2], KEYS[3]
local lease_id, home, bench_it        = ARGV[1], ARGV[2], ARGV[3]
local spend_ms                        = tonumber(ARGV[4])

local now = now_ms()
local lease = decode_lease(redis.call("GET", lease_key))
if not lease then
  if spend_ms > 0 then redis.call("SET", lease_key, encode_lease(spent_lease(home, now)), "PXAT", now + spend_ms) end
  return reply("not_held", "unknown")
end
if lease.home ~= home then return reply("not_held", "mismatch") end
local id, member = lease.credential, member_of(lease, lease_id)
local read = redis.call("HMGET", pool_key, "@pool", "@breaker", id)
local pool, breaker, credential = decode_pool(read[1]), decode_breaker(read[2]), decode_credential(read[3])
local reason = standing(lease, credential, redis.call("ZSCORE", leases_key, member), now)
if reason ~= "held" then return reply("not_held", reason) end

credential.in_flight, pool.in_flight, pool.granted = credential.in_flight - 1, pool.in_flight - 1, pool.granted - 1
count_probe(breaker, lease.fence, -1)
if bench_it == "1" and not is_outdated(credential, lease.fence) then bench(credential, pool, "auth_failed", 0) end

local fields = { "@pool", encode_pool(pool), id, encode_credential(credential) }
if breaker then fields[5], fields[6] = "@breaker", encode_breaker(breaker) end
redis.call("DEL", lease_key)
redis.call("ZREM", leases_key, member)
redis.call("HSET", pool_key, unpack(fields))
return reply("undone")
