-- The provider's registry: in which of its pools each credential and each secret is, so that neither is in two.
--
-- provider:<provider>   id:<credential>  <pool>      fp:<fingerprint>  <pool> <how many credentials have it>
local function secret_use(text)
  local pool, count = string.match(text or "", "^(%S+) (%d+)$")
  return pool, tonumber(count) or 0
end

local function set_secret_use(provider_key, fingerprint, pool_name, count)
  if count > 0 then return redis.call("HSET", provider_key, "fp:" .. fingerprint, pool_name .. " " .. count) end
  return redis.call("HDEL", provider_key, "fp:" .. fingerprint)
end
