-- A purse: what an account or a sub-account has. Nothing here calls Redis.
--
-- account, purse:<s>   1 available held spent lapsed debt funded borrowed in_flight made
--
-- Always: available + held + spent + lapsed - debt = funded, which is what was put in less what was taken out. `borrowed` is
-- what a sub-account drew on the account that has not come back, `in_flight` its open holds, `made` the tenant's sequence
-- number when it was made, so that a hold of an earlier one of its name is told apart.
local MAX_AMOUNT = 2 ^ 53 - 1
local PURSE = "1 %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f"
local PURSE_PATTERN = "^1 (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+)$"
local CHANGE = '["%s",%.0f,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f]'

local function open_purse(p)
  p.was = { available = p.available, held = p.held, spent = p.spent, lapsed = p.lapsed, debt = p.debt, funded = p.funded }
  return p
end

local function new_purse(field, made)
  return open_purse({ field = field, available = 0, held = 0, spent = 0, lapsed = 0, debt = 0, funded = 0, borrowed = 0,
    in_flight = 0, made = made })
end

local function decode_purse(field, text)
  if not text then return nil end
  local available, held, spent, lapsed, debt, funded, borrowed, in_flight, made = string.match(text, PURSE_PATTERN)
  if not available then error("a purse cannot be read") end
  return open_purse({ field = field, available = tonumber(available), held = tonumber(held), spent = tonumber(spent),
    lapsed = tonumber(lapsed), debt = tonumber(debt), funded = tonumber(funded), borrowed = tonumber(borrowed),
    in_flight = tonumber(in_flight), made = tonumber(made) })
end

-- Refuses what could not be, before anything is written: an amount below zero or above 2^53-1, books that do not balance.
local function encode_purse(p)
  local least = math.min(p.available, p.held, p.spent, p.lapsed, p.debt, p.funded, p.borrowed, p.in_flight)
  local most = math.max(p.funded + p.debt, p.borrowed)
  if least < 0 or most > MAX_AMOUNT or p.available + p.held + p.spent + p.lapsed - p.debt ~= p.funded then
    error("a purse would not balance")
  end
  return string.format(PURSE, p.available, p.held, p.spent, p.lapsed, p.debt, p.funded, p.borrowed, p.in_flight, p.made)
end

-- For the journal, of those purses that have changed:
-- [[purse, by how much spent, lapsed, debt, funded changed, then available, held, spent, lapsed, debt, funded], …]
local function purse_changes(purses)
  local changes = {}
  for _, p in ipairs(purses) do
    local was = p.was
    local spent, lapsed, debt, funded = p.spent - was.spent, p.lapsed - was.lapsed, p.debt - was.debt, p.funded - was.funded
    if spent ~= 0 or lapsed ~= 0 or debt ~= 0 or funded ~= 0 or p.held ~= was.held or p.available ~= was.available then
      changes[#changes + 1] = string.format(CHANGE, p.field, spent, lapsed, debt, funded, p.available, p.held, p.spent,
        p.lapsed, p.debt, p.funded)
    end
  end
  return "[" .. table.concat(changes, ",") .. "]"
end

-- What comes in pays the purse's debt first, so that it never has both.
local function credit(p, amount)
  local pays = math.min(amount, p.debt)
  p.debt, p.available = p.debt - pays, p.available + amount - pays
end

-- Takes away all that a purse has ever had: it is closed.
local function close_purse(p)
  p.available, p.spent, p.lapsed, p.debt, p.funded = 0, 0, 0, 0, 0
end
