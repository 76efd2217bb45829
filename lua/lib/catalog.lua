-- The catalog: what models cost and which upstream serves them. A field for each, and one that counts.
--
-- catalog   price:<provider>/<model>  JSON    model:<name>  JSON routes
--           @catalog  1 seq entries           `seq` numbers the changes, so that a copy knows whether it is the last
local function decode_catalog(text)
  local seq, entries = string.match(text or "1 0 0", "^1 (%d+) (%d+)$")
  if not seq then error("@catalog cannot be read") end
  return { seq = tonumber(seq), entries = tonumber(entries) }
end

local function encode_catalog(c) return string.format("1 %.0f %.0f", c.seq, c.entries) end

-- Numbers a change, and returns its journal entry. `value` is the price or the routes as JSON, or what names them.
local function catalog_entry(c, change, value, note, now)
  c.seq = c.seq + 1
  return entry_fields({ kind = "config", aggregate = "catalog", seq = c.seq, at = now, actor = "admin",
    detail = string.format('{"change":"%s","value":%s,"note":%s}', change, value, note) })
end
