-- The wire between a script and its typed twin: an outcome and a list.
--
-- An outcome is its kind and its fields, none of them nil (a nil would cut the reply short).
local function reply(kind, ...)
  for i = 1, select("#", ...) do
    if select(i, ...) == nil then error(kind .. ": field " .. i .. " is nil") end
  end
  return { kind, ... }
end

-- A list argument: JSON rows in, named records out. Decoding keeps every digit up to 2^53.
local function rows(text, names)
  local list = cjson.decode(text)
  for i, row in ipairs(list) do
    local record, column = {}, 0
    for name in string.gmatch(names, "%S+") do
      column = column + 1
      record[name] = row[column]
    end
    list[i] = record
  end
  return list
end
