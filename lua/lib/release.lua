-- Gives a unit back: the end of a lease that is held, with the outcome of its call. It changes only tables.

-- A pool as far as the end of one of its leases concerns it.
local function read_member(pool_key, credential_id)
  local read = redis.call("HMGET", pool_key, "@health", "@pool", "@breaker", credential_id)
  return { health = read[1], pool = decode_pool(read[2]), breaker = decode_breaker(read[3]), id = credential_id,
    credential = decode_credential(read[4]) }
end

-- `outcome` is a word of the outcome table or empty.
local function plan_release(m, lease, outcome, retry_after_ms, now)
  local pool, credential = m.pool, m.credential
  credential.in_flight, pool.in_flight = credential.in_flight - 1, pool.in_flight - 1
  count_probe(m.breaker, lease.fence, -1)
  if outcome == "" or outcome == "client_error" or outcome == "cancelled" then return end
  local health = outcome == "success" and {} or cjson.decode(m.health)
  learn(credential, pool, health.cooldowns, lease.fence, outcome, retry_after_ms, now)
  m.breaker = breaker_after(m.breaker, pool, health.breaker, lease.fence, outcome, now)
end

-- What is to be written of the pool.
local function member_fields(m)
  local fields = { "@pool", encode_pool(m.pool), m.id, encode_credential(m.credential) }
  if m.breaker then fields[5], fields[6] = "@breaker", encode_breaker(m.breaker) end
  return fields
end
