-- Where an amount comes from and where it goes back to. Nothing here calls Redis.
--
-- A funding is { sub_account, account }: how much of it each purse gave.
local FUNDING = { "sub_account", "account" }

local function no_funding() return { sub_account = 0, account = 0 } end

-- What the items of a call are together.
local function amount_of(items)
  local amount = 0
  for _, item in ipairs(items) do amount = amount + item.amount end
  return amount
end

-- As JSON, in the order in which it was drawn: [["sub_account",600],["account",400]].
local function funding_text(funding)
  local rows = {}
  for _, source in ipairs(FUNDING) do
    if funding[source] > 0 then rows[#rows + 1] = string.format('["%s",%.0f]', source, funding[source]) end
  end
  return "[" .. table.concat(rows, ",") .. "]"
end

local function take(purse, most, column)
  local amount = math.min(most, purse.available)
  purse.available, purse[column] = purse.available - amount, purse[column] + amount
  return amount
end

-- Draws on the sub-account, then on the account while it has borrowed less than `borrow_cap` (nil: no cap), into the column
-- `held` or `spent`, and adds it to `funding`. Returns what is missing.
local function draw(t, funding, amount, column, borrow_cap)
  local own = take(t.purse, amount, column)
  local room = borrow_cap and math.max(0, borrow_cap - t.purse.borrowed) or MAX_AMOUNT
  local lent = take(t.account, math.min(amount - own, room), column)
  t.purse.borrowed = t.purse.borrowed + lent
  funding.sub_account, funding.account = funding.sub_account + own, funding.account + lent
  return amount - own - lent
end

-- Gives back a part of `funding` out of the column, the last drawn first: of the sub-account's part what was `owed`, since that
-- was drawn when there was nothing left; then the account's part; then the rest. Returns what went where.
local function give_back(t, funding, amount, column, owed)
  local returned = no_funding()
  returned.account = math.min(amount - math.min(amount, owed), funding.account)
  returned.sub_account = math.min(amount - returned.account, funding.sub_account)
  for _, source in ipairs(FUNDING) do
    local part, purse = returned[source], source == "account" and t.account or t.purse
    purse[column], funding[source] = purse[column] - part, funding[source] - part
    credit(purse, part)
  end
  t.purse.borrowed = t.purse.borrowed - returned.account
  return returned
end
