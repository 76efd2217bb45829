-- An outcome: its kind and its fields, none of them nil (a nil would cut the reply short).
local function reply(kind, ...)
  for i = 1, select("#", ...) do
    if select(i, ...) == nil then error(kind .. ": field " .. i .. " is nil") end
  end
  return { kind, ... }
end
