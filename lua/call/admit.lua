-- Reserve and allocate in one: a hold and a lease, or neither. One record keeps both.
--
-- tenant_key  tenant:<tenant>             hold_key    hold:<tenant>:<call>    due_key  due:<shard>
-- pool_key    pool:<provider>:<pool>      leases_key  pool:<provider>:<pool>:leases
-- secrets_key pool:<provider>:<pool>:secrets
-- The arguments are those of quota/reserve and of lease/allocate; home is the pool that is asked.
--
-- admitted             amount funding sub_available account_available credential fence expires_at_ms expires_in_ms max_expires_at_ms hold_expires_at_ms secret replayed
-- unauthenticated                                   the token does not open this sub-account
-- not_found                                         no such sub-account
-- frozen               what                         tenant or sub_account
-- concurrency_limited  max_concurrent
-- breaker_open         due_in_ms                    the pool's upstream is failing
-- exhausted            scope requested available    debt, sub_account (its borrow cap) or account: which of them refuses
-- no_capacity          due_in_ms reasons seq        as lease/allocate says it
-- reclaim_due                                       64 expired leases were taken back and there may be more: repeat
-- lease_lost           reason                       this call was admitted before, and its lease is over
-- closed               state charged                this call has ended
-- conflict                                          this id was used with other arguments
-- elsewhere            home                         this call was admitted to that pool: ask there
-- no_pool                                           no such pool
-- absent                                            no such tenant
local tenant_key, hold_key, due_key       = KEYS[1], KEYS[2], KEYS[3]
local pool_key, leases_key, secrets_key   = KEYS[4], KEYS[5], KEYS[6]
local tenant, sub_account, call_id        = ARGV[1], ARGV[2], ARGV[3]
local fingerprint, token, home            = ARGV[4], ARGV[5], ARGV[6]
local ttl_ms, lease_ms                    = tonumber(ARGV[7]), tonumber(ARGV[8])
local items, metadata                     = ARGV[9], ARGV[10]
local candidates, ends, borrowed          = ARGV[11], ARGV[12], ARGV[13]
local holder                              = ARGV[14]

local now = now_ms()
local amount = amount_of(rows(items, "model amount tokens requests"))
local t = tenant_open(tenant_key, tenant, sub_account, token ~= "" and "token:" .. token)
local refusal = not t and reply("absent") or plan_caller(t, token, amount)
local ask = { candidates = cjson.decode(candidates), ends = cjson.decode(ends), borrowed = borrowed == "1" }
local plan, kind
if not refusal then plan, kind = plan_allocate(pool_key, leases_key, ask, now) end
if kind == "absent" then refusal = reply("no_pool") end

local hold = { fingerprint = fingerprint, amount = amount, funding = no_funding(), home = home, items = items, metadata = metadata }
if not refusal and kind ~= "breaker_open" then refusal = plan_funds(t, hold.funding, amount) end
if not refusal and kind == "granted" then
  hold.lease = plan_lease(plan, { home = home, holder = holder }, lease_ms)
  local text, fields = encode_hold(plan_hold(t, hold, ttl_ms, now)), tenant_fields(t)
  local secret = redis.call("HGET", secrets_key, plan.credential) or ""
  if redis.call("SET", hold_key, text, "NX") then
    redis.call("HSET", tenant_key, unpack(fields))
    redis.call("ZADD", due_key, hold.expires_at_ms, due_member(tenant, call_id))
    apply_lease(plan, pool_key, leases_key, call_member(hold.lease, tenant, call_id), hold.lease.expires_at_ms)
    return admitted(hold, t.purse.available, t.account.available, secret, now, 0)
  end
end
local before = decode_hold(redis.call("GET", hold_key))
if before then return replay_call(before, t, pool_key, secrets_key, fingerprint, home, now) end
if t and kind then return refuse_call(t, tenant_key, plan, kind, refusal, pool_key, leases_key) end
if t then count_refusal(t, tenant_key) end
return refusal
