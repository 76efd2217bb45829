-- The journal: one entry for each change, in the stream of its aggregate's shard, written by the script that makes the change.
--
-- journal:<shard>   kind aggregate seq at actor sub_account hold op amount purses detail metadata
--
-- Every entry has all fields in this order, since a stream stores such names once; what a kind has not is empty. `aggregate`
-- is `tenant:<tenant>` or `pool:<provider>:<pool>`, `seq` numbers its entries without a gap, `at` is in ms, `purses` what the
-- change did to each purse (purse.lua), `detail` JSON, `metadata` the caller's text as it came.
local FIELDS = { "kind", "aggregate", "seq", "at", "actor", "sub_account", "hold", "op", "amount", "purses", "detail",
  "metadata" }

-- The entry as XADD takes it. Made before anything is written, so that nothing can fail in between.
local function entry_fields(entry)
  local fields = { "*" }
  for i, name in ipairs(FIELDS) do
    local value = entry[name] or ""
    if type(value) == "number" then value = string.format("%.0f", value + 0) end -- + 0: never "-0"
    fields[2 * i], fields[2 * i + 1] = name, value
  end
  return fields
end

-- A change of a pool: numbers it, and returns its entry. `detail` is JSON; `actor` is an operator unless it is said.
local function pool_entry(home, pool, kind, now, detail, actor)
  pool.seq = pool.seq + 1
  return entry_fields({ kind = kind, aggregate = "pool:" .. home, seq = pool.seq, at = now,
    actor = actor or "admin", detail = detail })
end
