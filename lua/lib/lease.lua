-- A lease's record, its member in the pool's set, and the one answer to "is it still held?".
--
-- lease:<lease>   1 home credential fence max_expires_at_ms state granted_at_ms fingerprint holder
-- …:leases        <credential> <fence> <lease>  at  expires_at_ms
--
-- A call's lease has no record of its own (hold.lua); its member says `<tenant>~<call>`.
-- `home` is `<provider>:<pool>`. Ids stay text, since "1e5" is one. The fence is in the member, so that whoever meets it
-- knows whether the lease was revoked since.
local function decode_lease(text)
  if not text then return nil end
  local home, credential, fence, max_expires_at_ms, state, granted_at_ms, fingerprint, holder =
    string.match(text, "^1 (%S+) (%S+) (%d+) (%d+) (%S+) (%d+) (%S+) (%S*)$")
  if not home then error("a lease's record cannot be read") end
  return { home = home, credential = credential, fence = tonumber(fence),
    max_expires_at_ms = tonumber(max_expires_at_ms), state = state, granted_at_ms = tonumber(granted_at_ms),
    fingerprint = fingerprint, holder = holder }
end

local function encode_lease(l)
  return string.format("1 %s %s %.0f %.0f %s %.0f %s %s", l.home, l.credential, l.fence, l.max_expires_at_ms, l.state,
    l.granted_at_ms, l.fingerprint, l.holder)
end

-- The record of an id that was given up before it was granted: nobody's, and over.
local function spent_lease(home, now)
  return { home = home, credential = "-", fence = 0, max_expires_at_ms = now, state = "released", granted_at_ms = now,
    fingerprint = "-", holder = "" }
end

local function member_of(lease, lease_id)
  return string.format("%s %.0f %s", lease.credential, lease.fence, lease_id)
end

-- What a call's lease is called in its pool's set: no id of a lease has a `~`.
local function call_member(lease, tenant, call_id) return member_of(lease, tenant .. "~" .. call_id) end

-- held, released, revoked or expired. A lease is over when its term has passed, reclaimed or not.
local function standing(lease, credential, expires_at_ms, now)
  if lease.state ~= "held" then return lease.state end
  if not credential or lease.fence <= credential.revoked_fence then return "revoked" end
  if not expires_at_ms or tonumber(expires_at_ms) <= now then return "expired" end
  return "held"
end
