-- Decides whether a sub-account may draw, and draws. It changes only tables.
--
-- frozen      what                         tenant or sub_account
-- exhausted   scope requested available    debt, sub_account (its borrow cap) or account: which of them refuses

-- nil, or why this sub-account draws nothing now.
local function plan_drawer(t, amount)
  t.sub = cjson.decode(t.terms)
  if cjson.decode(t.config).status ~= "active" then return reply("frozen", "tenant") end
  if t.sub.status ~= "active" then return reply("frozen", "sub_account") end
  if t.purse.debt > 0 then return reply("exhausted", "debt", amount, 0) end
end

-- Draws into `funding`: nil, or the refusal that says what there was. While the account still has something, it is the
-- sub-account's cap that refuses.
local function plan_funds(t, funding, amount)
  local missing = draw(t, funding, amount, "held", t.sub.borrow_cap)
  if missing == 0 then return nil end
  local scope = t.account.available > 0 and "sub_account" or "account"
  return reply("exhausted", scope, amount, amount - missing)
end

-- An open hold grows by `more`: nil, or a refusal, which is counted. It is a reserve in all but name.
local function plan_growth(t, tenant_key, hold, more)
  if more == 0 then return nil end
  local refusal = plan_drawer(t, more) or plan_funds(t, hold.funding, more)
  if refusal then count_refusal(t, tenant_key) end
  return refusal
end
