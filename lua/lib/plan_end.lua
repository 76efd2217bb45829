-- Decides how a hold ends. It changes only tables, the hold's among them.
--
-- closed  state charged   it has ended before, in another way

-- Charges `actual`: what was held or, of an expired hold, charged already, then more as a reserve would draw it but beyond any
-- cap, then as debt of the sub-account. What was charged too much takes back its own debt first.
local function charge(t, hold, actual)
  local open = hold.state == "open"
  local had = open and hold.amount or hold.charged
  local paid = open and { sub_account = hold.funding.sub_account, account = hold.funding.account } or hold.paid
  local back = math.max(0, had - actual)
  hold.returned = give_back(t, paid, back, open and "held" or "spent", hold.debt)
  if open then
    t.purse.held, t.purse.spent = t.purse.held - paid.sub_account, t.purse.spent + paid.sub_account
    t.account.held, t.account.spent = t.account.held - paid.account, t.account.spent + paid.account
    t.purse.in_flight, t.state.open = t.purse.in_flight - 1, t.state.open - 1
  end
  local missing = draw(t, paid, math.max(0, actual - had), "spent")
  t.purse.spent, t.purse.debt = t.purse.spent + missing, t.purse.debt + missing
  paid.sub_account = paid.sub_account + missing
  hold.paid, hold.charged, hold.debt = paid, actual, math.max(0, hold.debt - back) + missing
end

-- Ends it as `state`. nil, or a refusal: only an open hold ends, and an expired one is settled once.
local function plan_end(t, hold, state, actual, end_print)
  local late = hold.state == "expired" and state == "settled"
  if hold.state ~= "open" and not late then return reply("closed", hold.state, hold.charged) end
  charge(t, hold, actual)
  hold.state, hold.end_print = state, end_print
end

-- Everything that an end writes, made before any of it is. `kind` is the entry's, `by` what the tenant was charged more.
local function pack_end(t, hold, kind, actor, hold_id, by, note, now)
  local entry = { kind = kind, actor = actor, hold = hold_id, amount = by, detail = life_of(hold, note), metadata = hold.metadata }
  local fields, written = tenant_change(t, entry, now)
  return { hold = encode_hold(hold), fields = fields, entry = written }
end

-- The hold's own record first: it is the claim of the end.
local function apply_end(packed, tenant_key, hold_key, due_key, journal_key, member, over_at_ms)
  redis.call("SET", hold_key, packed.hold, "PXAT", over_at_ms)
  redis.call("HSET", tenant_key, unpack(packed.fields))
  redis.call("XADD", journal_key, unpack(packed.entry))
  redis.call("ZREM", due_key, member)
end
