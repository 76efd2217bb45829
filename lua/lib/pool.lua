-- The pool's hash: `<credential>` is the state of one credential, `@pool` the pool's own. Each is one packed field that
-- begins with its format's version and is read and written by one explicit pattern. No secret and no configuration.
--
-- @pool     1 fence seq members capacity in_flight granted refused reserved blocked lost released reclaimed revoked
-- <id>      1 status until_ms capacity in_flight revoked_fence used_at_ms benched_fence errors success limited_at_ms verified_at_ms
-- @made     when the pool was made, so that one made again with the same `seq` is told apart
-- @health   JSON, read by health.lua and breaker.lua
-- @limits   read by breaker.lua
--
-- `seq` numbers the changes of configuration, so it is the version that a snapshot compares. `until_ms` 0 is "no
-- deadline"; the rest of @pool counts what happened since the pool was made; `errors` is the streak, `success` the smoothed rate in permille, -1 while there was no call.
local POOL = "1 %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f"
local POOL_PATTERN =
  "^1 (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+)$"
local CREDENTIAL = "1 %s %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f"
local CREDENTIAL_PATTERN =
  "^1 (%S+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%-?%d+) (%d+) (%d+)$"

local function decode_pool(text)
  if not text then return nil end
  local fence, seq, members, capacity, in_flight, granted, refused, reserved, blocked, lost, released, reclaimed, revoked =
    string.match(text, POOL_PATTERN)
  if not fence then error("@pool cannot be read") end
  return { fence = tonumber(fence), seq = tonumber(seq), members = tonumber(members), capacity = tonumber(capacity),
    in_flight = tonumber(in_flight), granted = tonumber(granted), refused = tonumber(refused),
    reserved = tonumber(reserved), blocked = tonumber(blocked), lost = tonumber(lost), released = tonumber(released),
    reclaimed = tonumber(reclaimed), revoked = tonumber(revoked) }
end

local function encode_pool(p)
  return string.format(POOL, p.fence, p.seq, p.members, p.capacity, p.in_flight, p.granted, p.refused,
    p.reserved, p.blocked, p.lost, p.released, p.reclaimed, p.revoked)
end

-- Fences start at the time in microseconds, so that a pool made again, after a flush or a rebuild, never repeats one.
local function new_pool(now)
  return { fence = now * 1000, seq = 0, members = 0, capacity = 0, in_flight = 0, granted = 0, refused = 0,
    reserved = 0, blocked = 0, lost = 0, released = 0, reclaimed = 0, revoked = 0 }
end

local function decode_credential(text)
  if not text then return nil end
  local status, until_ms, capacity, in_flight, revoked_fence, used_at_ms, benched_fence, errors, success, limited_at_ms,
    verified_at_ms = string.match(text, CREDENTIAL_PATTERN)
  if not status then error("the state of a credential cannot be read") end
  return { status = status, until_ms = tonumber(until_ms), capacity = tonumber(capacity),
    in_flight = tonumber(in_flight), revoked_fence = tonumber(revoked_fence), used_at_ms = tonumber(used_at_ms),
    benched_fence = tonumber(benched_fence), errors = tonumber(errors), success = tonumber(success),
    limited_at_ms = tonumber(limited_at_ms), verified_at_ms = tonumber(verified_at_ms) }
end

local function encode_credential(c)
  return string.format(CREDENTIAL, c.status, c.until_ms, c.capacity, c.in_flight, c.revoked_fence, c.used_at_ms,
    c.benched_fence, c.errors, c.success, c.limited_at_ms, c.verified_at_ms)
end

-- A new credential starts above every lease that an earlier one of its name may have left behind.
local function new_credential(pool, status)
  return { status = status, until_ms = 0, capacity = 0, in_flight = 0, revoked_fence = pool.fence, used_at_ms = 0,
    benched_fence = 0, errors = 0, success = -1, limited_at_ms = 0, verified_at_ms = 0 }
end
