-- The tenant aggregate: one HMGET opens it, one HSET saves it. Amounts are packed; configuration is JSON without a null, which Lua
-- would take for a value.
--
-- tenant:<tenant>   config      { status }
--                   state       1 seq subs open reserved refused
--                   account     a purse (purse.lua)
--                   sub:<s>     { status, borrow_cap, max_concurrent }
--                   purse:<s>   a purse
--                   tokens:<s>, token:<sha256>   (token.lua)
--
-- `seq` numbers the tenant's journal entries, `subs` are its sub-accounts, `open` its open holds; `reserved` and `refused` count
-- what was answered. A deleted tenant leaves its `state`, so that one made again goes on counting.
local STATE = "1 %.0f %.0f %.0f %.0f %.0f"

local function decode_state(text)
  if not text then return { seq = 0, subs = 0, open = 0, reserved = 0, refused = 0 } end
  local seq, subs, open, reserved, refused = string.match(text, "^1 (%d+) (%d+) (%d+) (%d+) (%d+)$")
  if not seq then error("a tenant's state cannot be read") end
  return { seq = tonumber(seq), subs = tonumber(subs), open = tonumber(open), reserved = tonumber(reserved),
    refused = tonumber(refused) }
end

local function encode_state(s) return string.format(STATE, s.seq, s.subs, s.open, s.reserved, s.refused) end

-- nil when there is no such tenant. `sub_account` "" opens the account only; `purse` is nil when there is no such sub-account.
-- `extra` is one more field to read.
local function tenant_open(key, tenant, sub_account, extra)
  local purse_field = "purse:" .. sub_account
  local read = redis.call("HMGET", key, "config", "state", "account", "sub:" .. sub_account, purse_field, extra or "state")
  if not read[1] then return nil end
  return { name = tenant, sub_account = sub_account, config = read[1], state = decode_state(read[2]),
    account = decode_purse("account", read[3]), terms = read[4], purse = decode_purse(purse_field, read[5]),
    extra = read[6] }
end

-- What is to be written, made before anything is.
local function tenant_fields(t)
  local fields = { "state", encode_state(t.state), "account", encode_purse(t.account) }
  if t.purse then fields[5], fields[6] = t.purse.field, encode_purse(t.purse) end
  return fields
end

-- Numbers a change, and returns the fields to write and its journal entry. `entry` has what is not the tenant's own.
local function tenant_change(t, entry, now)
  t.state.seq = t.state.seq + 1
  entry.aggregate, entry.seq, entry.at, entry.sub_account = "tenant:" .. t.name, t.state.seq, now, t.sub_account
  entry.purses = purse_changes({ t.account, t.purse })
  return tenant_fields(t), entry_fields(entry)
end

-- A refusal changes nothing but this counter.
local function count_refusal(t, key)
  t.state.refused = t.state.refused + 1
  redis.call("HSET", key, "state", encode_state(t.state))
end
