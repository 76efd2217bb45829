-- A hold's record: four lines, of which the first is packed and the last is the caller's metadata as it came.
--
-- hold:<tenant>:<hold>   1 state sub_account made fingerprint opened_at_ms expires_at_ms amount accrued (funding) (paid)
--                        (returned) end_print charged debt place
--                        items      JSON rows [model, amount, tokens, requests]
--                        refunds    JSON rows [op_id, amount, from sub_account, from account, what can still be refunded]
--                        metadata
--
-- (…) is two numbers: of the sub-account, of the account. `funding` is held while the state is open, `paid` is what was
-- charged and not refunded, `debt` the part of what was charged that no purse had (refunds leave it as it is). `made` is the
-- sub-account's; `place` is the pool whose breaker was asked, `<provider>:<pool>`, or `-`. Of a call it goes on with the lease:
-- `:<credential>:<fence>:<granted_at_ms>:<expires_at_ms>:<max_expires_at_ms>:<holder>`. It has no end of its own while it is open:
-- the sweeper ends it through `due`.
local HOLD = "1 %s %s %.0f %s %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %s %.0f %.0f %s\n%s\n%s\n%s"
local HOLD_PATTERN = "^1 (%S+) (%S+) (%d+) (%S+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%S+) (%d+) (%d+) (%S+)"
  .. "\n([^\n]*)\n([^\n]*)\n(.*)$"
local LIFE = '{"state":"%s","held":%.0f,"funding":%s,"charged":%.0f,"paid":%s,"returned":%s,"debt":%.0f,"accrued":%.0f,'
  .. '"opened_at_ms":%.0f,"expires_at_ms":%.0f,"home":"%s"%s,"items":%s,"note":%s}'

local LEASE = "%s:%s:%.0f:%.0f:%.0f:%.0f:%s"
local LEASE_PATTERN = "^([^:]+:[^:]+):([^:]+):(%d+):(%d+):(%d+):(%d+):([^:]*)$"

-- The pool, and the lease of a call or nil.
local function decode_place(place)
  local home, credential, fence, granted_at_ms, expires_at_ms, max_expires_at_ms, holder = string.match(place, LEASE_PATTERN)
  if not home then return place, nil end
  return home, { home = home, state = "held", credential = credential, fence = tonumber(fence), granted_at_ms = tonumber(granted_at_ms),
    expires_at_ms = tonumber(expires_at_ms), max_expires_at_ms = tonumber(max_expires_at_ms),
    holder = holder }
end

local function encode_place(h)
  local l = h.lease
  if not l then return h.home end
  return string.format(LEASE, h.home, l.credential, l.fence, l.granted_at_ms, l.expires_at_ms, l.max_expires_at_ms, l.holder)
end

local function funding_of(sub_account, account) return { sub_account = tonumber(sub_account), account = tonumber(account) } end

local function decode_hold(text)
  if not text then return nil end
  local state, sub_account, made, fingerprint, opened, expires, amount, accrued, f1, f2, p1, p2, r1, r2, end_print, charged,
    debt, place, items, refunds, metadata = string.match(text, HOLD_PATTERN)
  if not state then error("a hold's record cannot be read") end
  local home, lease = decode_place(place)
  return { state = state, sub_account = sub_account, made = tonumber(made), fingerprint = fingerprint,
    opened_at_ms = tonumber(opened), expires_at_ms = tonumber(expires), amount = tonumber(amount),
    accrued = tonumber(accrued), funding = funding_of(f1, f2), paid = funding_of(p1, p2), returned = funding_of(r1, r2),
    end_print = end_print, charged = tonumber(charged), debt = tonumber(debt), home = home, lease = lease, items = items,
    refunds = refunds, metadata = metadata }
end

local function encode_hold(h)
  local f, p, r = h.funding, h.paid, h.returned
  return string.format(HOLD, h.state, h.sub_account, h.made, h.fingerprint, h.opened_at_ms, h.expires_at_ms, h.amount,
    h.accrued, f.sub_account, f.account, p.sub_account, p.account, r.sub_account, r.account, h.end_print, h.charged,
    h.debt, encode_place(h), h.items, h.refunds, h.metadata)
end

local function due_member(tenant, hold_id) return "hold " .. tenant .. " " .. hold_id end

-- Its whole life as JSON, for the entry of its end. `note` is the caller's part, JSON too.
local function life_of(h, note)
  return string.format(LIFE, h.state, h.amount, funding_text(h.funding), h.charged, funding_text(h.paid),
    funding_text(h.returned), h.debt, h.accrued, h.opened_at_ms, h.expires_at_ms, h.home,
    h.lease and string.format(',"key_id":"%s","fence":%.0f', h.lease.credential, h.lease.fence) or "", h.items, note)
end

-- Its tenant, opened; or nil and a refusal: not_found (no such hold, or its sub-account is gone), absent (no such tenant).
local function tenant_of(hold, tenant_key, tenant)
  if not hold then
    if redis.call("HEXISTS", tenant_key, "config") == 0 then return nil, reply("absent") end
    return nil, reply("not_found")
  end
  local t = tenant_open(tenant_key, tenant, hold.sub_account)
  if not t or not t.purse or t.purse.made ~= hold.made then return nil, reply("not_found") end
  return t
end
