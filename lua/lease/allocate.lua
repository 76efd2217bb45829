-- Grant the first free credential of a ranked list. The lease's id is the idempotency id: its record is looked at before
-- any refusal is given.
--
-- pool_key     pool:<provider>:<pool>             lease_key    lease:<lease>
-- secrets_key  pool:<provider>:<pool>:secrets     leases_key   pool:<provider>:<pool>:leases
-- home is `<provider>:<pool>`, lease_ms and keep_ms are durations, candidates is a JSON list of ids, ends a JSON object: when
-- the token of some of them ends (ms). borrowed 1: the call was sent on by another pool.
--
-- granted       credential fence expires_at_ms expires_in_ms max_expires_at_ms secret replayed
-- no_capacity   due_in_ms reasons seq   nothing is free; when something is due back (0: not known); counts by reason
-- breaker_open  due_in_ms               upstream is failing
-- reclaim_due                           64 expired leases were taken back and there may be more: repeat
-- lease_lost    reason                  this id was granted before and its lease is over
-- conflict                              this id was granted before for other arguments
-- elsewhere     home                    this id was granted before from that pool: ask there
-- absent                                no such pool
local pool_key, secrets_key     = KEYS[1], KEYS[2]
local leases_key, lease_key     = KEYS[3], KEYS[4]
local lease_id, home, holder    = ARGV[1], ARGV[2], ARGV[3]
local fingerprint, lease_ms     = ARGV[4], tonumber(ARGV[5])
local keep_ms, candidates       = tonumber(ARGV[6]), ARGV[7]
local ends, borrowed            = ARGV[8], ARGV[9]

local now = now_ms()
local function granted(lease, secret, replayed)
  local l, expires_in_ms = lease, lease.expires_at_ms - now
  return reply("granted", l.credential, l.fence, l.expires_at_ms, expires_in_ms, l.max_expires_at_ms, secret, replayed)
end

-- The same lease again, while it is held; of the plan only what it has read is used.
local function replay(lease, plan)
  if lease.fingerprint ~= fingerprint then return reply("conflict") end
  if lease.home ~= home then return reply("elsewhere", lease.home) end
  local credential = decode_credential(state_of(plan, lease.credential) or redis.call("HGET", pool_key, lease.credential))
  lease.expires_at_ms = tonumber(redis.call("ZSCORE", leases_key, member_of(lease, lease_id)) or 0)
  local reason = standing(lease, credential, lease.expires_at_ms, now)
  if reason ~= "held" then return reply("lease_lost", reason) end
  return granted(lease, redis.call("HGET", secrets_key, lease.credential) or "", 1)
end

local ask = { candidates = cjson.decode(candidates), ends = cjson.decode(ends), borrowed = borrowed == "1" }
local plan, kind = plan_allocate(pool_key, leases_key, ask, now)
if kind == "absent" then return reply("absent") end

if kind == "granted" then
  local lease = plan_lease(plan, { home = home, fingerprint = fingerprint, holder = holder }, lease_ms)
  local secret, over_at_ms = redis.call("HGET", secrets_key, plan.credential) or "", lease.max_expires_at_ms + keep_ms
  if redis.call("SET", lease_key, encode_lease(lease), "NX", "PXAT", over_at_ms) then
    apply_lease(plan, pool_key, leases_key, member_of(lease, lease_id), lease.expires_at_ms)
    return granted(lease, secret, 0)
  end
end

local before = decode_lease(redis.call("GET", lease_key))
if before then return replay(before, plan) end
local due_in_ms, reasons = refusal_of(plan, leases_key, kind)
write_pool(plan, pool_key, leases_key)
if kind == "reclaim_due" then return reply("reclaim_due") end
if kind == "breaker_open" then return reply("breaker_open", due_in_ms) end
return reply("no_capacity", due_in_ms, reasons, plan.pool.seq)
