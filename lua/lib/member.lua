-- What a change of a credential writes. `change` is { config, fingerprint, sealed }; a nil one stays as it is.
local SECRET = "^(%S+) ([^.]+)%."

-- Reads whose secret is whose. Returns nil, or where the id or the new secret is already: "key_id" or "secret", and the pool.
local function plan_secret(change, secrets_key, provider_key, pool_name, id)
  change.print_before, change.seal_before = string.match(redis.call("HGET", secrets_key, id) or "", SECRET)
  local known = redis.call("HMGET", provider_key, "id:" .. id, "fp:" .. (change.fingerprint or ""),
    "fp:" .. (change.print_before or ""))
  local secret_pool, uses = secret_use(known[2])
  local _, uses_before = secret_use(known[3])
  change.uses, change.uses_before = uses, uses_before
  change.new_secret = change.fingerprint and change.fingerprint ~= change.print_before
  if known[1] and known[1] ~= pool_name then return "key_id", known[1] end
  if secret_pool and secret_pool ~= pool_name then return "secret", secret_pool end
end

-- A new secret ends what the old one was benched for; what is said of the old one from now on is old news. One that was
-- refreshed is of the same account, whose quota may still be spent.
local function renew_secret(pool, credential, refreshed)
  credential.benched_fence = pool.fence
  local spent = credential.status == "exhausted" and not refreshed
  if credential.status ~= "auth_failed" and not spent then return end
  credential.status, credential.until_ms, credential.errors = "available", 0, 0
end

-- What became of a credential, for the journal: all that a rebuild needs. `note` is JSON.
local MEMBER = '{"change":"%s","key_id":"%s","status":"%s","capacity":%.0f,"config":%s,"fingerprint":"%s","sealed":"%s","note":%s}'
local function member_detail(what, id, credential, change, note)
  return string.format(MEMBER, what, id, credential.status, credential.capacity, change.config, change.fingerprint or "",
    change.sealed or "", note)
end

local function set_capacity(pool, credential, capacity)
  pool.capacity = pool.capacity + capacity - credential.capacity
  credential.capacity = capacity
end

local function apply_member(change, config_key, secrets_key, provider_key, pool_name, id)
  redis.call("HSET", provider_key, "id:" .. id, pool_name)
  if change.new_secret then
    if change.print_before then set_secret_use(provider_key, change.print_before, pool_name, change.uses_before - 1) end
    set_secret_use(provider_key, change.fingerprint, pool_name, change.uses + 1)
  end
  if change.config then redis.call("HSET", config_key, id, change.config) end
  if change.sealed then redis.call("HSET", secrets_key, id, change.fingerprint .. " " .. change.sealed) end
end
