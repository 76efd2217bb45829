-- Decides who may open a hold, and makes it. It changes only tables.
--
-- unauthenticated                       the token does not open this sub-account
-- not_found                             no such sub-account
-- concurrency_limited  max_concurrent   it has as many open holds as it may

-- nil, or a refusal. The order is that of the design: token, status, debt, concurrency.
local function plan_caller(t, token, amount)
  if token ~= "" and t.extra ~= t.sub_account then return reply("unauthenticated") end
  if not t.purse then return reply("not_found") end
  local refusal = plan_drawer(t, amount)
  if refusal then return refusal end
  local most = t.sub.max_concurrent
  if most and t.purse.in_flight >= most then return reply("concurrency_limited", most) end
end

-- The record of a hold that is opened now; `hold` has what the caller said of it.
local function plan_hold(t, hold, ttl_ms, now)
  t.purse.in_flight, t.state.open, t.state.reserved = t.purse.in_flight + 1, t.state.open + 1, t.state.reserved + 1
  hold.state, hold.sub_account, hold.made = "open", t.sub_account, t.purse.made
  hold.opened_at_ms, hold.expires_at_ms, hold.accrued = now, now + ttl_ms, 0
  hold.paid, hold.returned, hold.end_print, hold.charged, hold.debt = no_funding(), no_funding(), "-", 0, 0
  hold.refunds = "[]"
  return hold
end
