-- The pool's breaker, absent while nothing has failed; and the settings that a grant reads.
--
-- @breaker   1 failures open_until_ms open_fence out trips
-- @limits    1 max_lifetime_ms reserved probes mode recovery
--
-- Open until `open_until_ms`; then half-open: a lease granted since it opened (fence > open_fence) is a probe, and at most
-- `probes` of them are out at once. `trips` counts how often in a row it opened, so that it opens longer each time.
local function decode_breaker(text)
  if not text then return nil end
  local failures, open_until_ms, open_fence, out, trips = string.match(text, "^1 (%d+) (%d+) (%d+) (%d+) (%d+)$")
  if not failures then error("@breaker cannot be read") end
  return { failures = tonumber(failures), open_until_ms = tonumber(open_until_ms), open_fence = tonumber(open_fence),
    out = tonumber(out), trips = tonumber(trips) }
end

local function encode_breaker(b)
  return string.format("1 %.0f %.0f %.0f %.0f %.0f", b.failures, b.open_until_ms, b.open_fence, b.out, b.trips)
end

local function decode_limits(text)
  local max_lifetime_ms, reserved, probes, mode, recovery =
    string.match(text or "", "^1 (%d+) (%d+) (%d+) (%S+) (%S+)$")
  if not mode then error("@limits cannot be read") end
  return { max_lifetime_ms = tonumber(max_lifetime_ms), reserved = tonumber(reserved), probes = tonumber(probes),
    mode = mode, recovery = recovery }
end

local function closed_breaker(open_fence)
  return { failures = 0, open_until_ms = 0, open_fence = open_fence, out = 0, trips = 0 }
end

local function breaker_blocks(breaker, limits, now)
  if limits.mode ~= "auto" then return limits.mode == "open" end
  if not breaker or breaker.open_until_ms == 0 then return false end
  return now < breaker.open_until_ms or breaker.out >= limits.probes
end

-- When a breaker that blocks may let the next one through; 0 while that is not known: held open by hand, or its probes are out.
local function breaker_due_ms(breaker, limits, now)
  if limits.mode == "open" then return 0 end
  return math.max(0, breaker.open_until_ms - now)
end

local function is_probe(breaker, fence)
  return breaker and breaker.open_until_ms > 0 and fence > breaker.open_fence
end

-- However a lease ends, its probe comes back here. `units` is 1 when it starts, -1 when it ends.
local function count_probe(breaker, fence, units)
  if is_probe(breaker, fence) then breaker.out = breaker.out + units end
end

-- The breaker as it is after an outcome. `settings` is @health's `breaker`; only upstream's own failures count. A lease from
-- before it last opened tells old news, also when it has closed since: the failures of one outage open it once.
local function breaker_after(breaker, pool, settings, fence, outcome, now)
  if outcome ~= "success" and outcome ~= "upstream_error" then return breaker end
  if breaker and fence <= breaker.open_fence then return breaker end
  if outcome == "success" then return breaker and closed_breaker(breaker.open_fence) end
  breaker = breaker or closed_breaker(0)
  local failures = breaker.failures + 1
  if not is_probe(breaker, fence) and failures < settings.failures then
    breaker.failures = failures
    return breaker
  end
  local open_ms = math.min(settings.open_ms * 2 ^ math.min(breaker.trips, 30), settings.open_max_ms)
  return { failures = failures, open_until_ms = now + open_ms, open_fence = pool.fence, out = 0,
    trips = breaker.trips + 1 }
end
