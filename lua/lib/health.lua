-- What the outcome of a call means for its credential. `settings` is @health's JSON, all durations in ms.
-- A lease with a fence above benched_fence was granted after the last bench began; an older one tells old news.
local function clamp(value, least, most) return math.max(least, math.min(value, most)) end

-- A deadline only ever moves out; a status without one (disabled, pending, auth_failed) outlasts every deadline.
-- `until_ms` 0 is without end.
local function bench(credential, pool, status, until_ms)
  if credential.status ~= "available" and credential.until_ms == 0 then return end
  if until_ms > 0 and until_ms <= credential.until_ms then return end
  credential.status, credential.until_ms, credential.benched_fence = status, until_ms, pool.fence
end

-- An exponential average over about 16 calls; the first call is taken whole.
local function rate_after(rate, sample)
  if rate < 0 then return sample end
  return math.floor((rate * 15 + sample) / 16 + 0.5)
end

local function on_upstream_error(credential, pool, cooldowns, news, retry_after_ms, now)
  credential.success = rate_after(credential.success, 0)
  if news then credential.errors = credential.errors + 1 end
  local over = credential.errors - cooldowns.errors_from
  if retry_after_ms then
    bench(credential, pool, "cooling", now + clamp(retry_after_ms, cooldowns.rate_limit_min_ms, cooldowns.rate_limit_max_ms))
  elseif news and over >= 0 then
    local cool_ms = cooldowns.error_ms * 2 ^ math.min(over, 30)
    bench(credential, pool, "cooling", now + math.min(cool_ms, cooldowns.error_max_ms))
  end
end

-- A verdict on the secret or its quota, from a lease granted before these were renewed, or before an operator's enable. Without
-- this the last calls on a replaced secret would take the new one out of service.
local function is_outdated(credential, fence)
  return credential.status == "available" and fence <= credential.benched_fence
end

local function learn(credential, pool, cooldowns, fence, outcome, retry_after_ms, now)
  local news = fence > credential.benched_fence
  if outcome == "success" then
    credential.success = rate_after(credential.success, 1000)
    if news then credential.errors = 0 end
  elseif outcome == "upstream_error" then
    on_upstream_error(credential, pool, cooldowns, news, retry_after_ms, now)
  elseif outcome == "rate_limited" then
    local wait_ms = clamp(retry_after_ms or cooldowns.rate_limit_default_ms, cooldowns.rate_limit_min_ms, cooldowns.rate_limit_max_ms)
    credential.limited_at_ms = now
    bench(credential, pool, "rate_limited", now + wait_ms)
  elseif is_outdated(credential, fence) then
    return
  elseif outcome == "exhausted" then
    bench(credential, pool, "exhausted", now + math.max(retry_after_ms or 0, cooldowns.exhausted_ms))
  elseif outcome == "auth_failed" then
    bench(credential, pool, "auth_failed", 0)
  end
end
