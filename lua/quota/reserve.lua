-- Open a hold for one call of a sub-account: every check, then the funds, then one write of each thing.
--
-- tenant_key  tenant:<tenant>         hold_key  hold:<tenant>:<hold>
-- due_key     due:<shard>             pool_key  pool:<provider>:<pool>, or tenant_key again when no pool is named
-- token is a token's SHA-256 or empty; home is `<provider>:<pool>` or `-`; items are rows of model, amount, tokens, requests.
--
-- reserved             amount funding sub_available account_available expires_at_ms replayed
-- unauthenticated                                   the token does not open this sub-account
-- not_found                                         no such sub-account
-- no_pool                                           no such pool
-- frozen               what                         tenant or sub_account
-- concurrency_limited  max_concurrent
-- breaker_open         due_in_ms                    the pool's upstream is failing
-- exhausted            scope requested available    debt, sub_account (its borrow cap) or account: which of them refuses
-- closed               state charged                this id was a hold that has ended
-- conflict                                          this id was used with other arguments
-- absent                                            no such tenant
local tenant_key, hold_key         = KEYS[1], KEYS[2]
local due_key, pool_key            = KEYS[3], KEYS[4]
local tenant, sub_account, hold_id = ARGV[1], ARGV[2], ARGV[3]
local fingerprint, token           = ARGV[4], ARGV[5]
local ttl_ms, home                 = tonumber(ARGV[6]), ARGV[7]
local items, metadata              = ARGV[8], ARGV[9]

local now, amount = now_ms(), amount_of(rows(items, "model amount tokens requests"))

local function pool_refusal()
  if home == "-" then return nil end
  local read = redis.call("HMGET", pool_key, "@limits", "@breaker")
  if not read[1] then return reply("no_pool") end
  local limits, breaker = decode_limits(read[1]), decode_breaker(read[2])
  if breaker_blocks(breaker, limits, now) then return reply("breaker_open", breaker_due_ms(breaker, limits, now)) end
end

local function answer(hold, sub_available, account_available, replayed)
  return reply("reserved", hold.amount, funding_text(hold.funding), sub_available, account_available, hold.expires_at_ms, replayed)
end

local t = tenant_open(tenant_key, tenant, sub_account, token ~= "" and "token:" .. token)
local refusal = not t and reply("absent") or plan_caller(t, token, amount) or pool_refusal()
local hold = { fingerprint = fingerprint, amount = amount, funding = no_funding(), home = home, items = items, metadata = metadata }
refusal = refusal or plan_funds(t, hold.funding, amount)
if not refusal then
  local text, fields = encode_hold(plan_hold(t, hold, ttl_ms, now)), tenant_fields(t)
  if redis.call("SET", hold_key, text, "NX") then
    redis.call("HSET", tenant_key, unpack(fields))
    redis.call("ZADD", due_key, hold.expires_at_ms, due_member(tenant, hold_id))
    return answer(hold, t.purse.available, t.account.available, 0)
  end
end
local before = decode_hold(redis.call("GET", hold_key))
if not before and t then count_refusal(t, tenant_key) end
if not before then return refusal end
if before.fingerprint ~= fingerprint then return reply("conflict") end
if before.state ~= "open" then return reply("closed", before.state, before.charged) end
return answer(before, t.purse.was.available, t.account.was.available, 1)
