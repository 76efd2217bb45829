-- The tokens of a sub-account. Only their SHA-256 is stored.
--
-- tokens:<s>       1, then a line for each: token_id sha256 made_at_ms name
-- token:<sha256>   the sub-account that it opens
local function decode_tokens(text)
  local tokens = {}
  for id, sha256, made_at_ms, name in string.gmatch(text or "", "\n(%S+) (%S+) (%d+) ([^\n]*)") do
    tokens[#tokens + 1] = { id = id, sha256 = sha256, made_at_ms = tonumber(made_at_ms), name = name }
  end
  return tokens
end

local function encode_tokens(tokens)
  local lines = { "1" }
  for i, one in ipairs(tokens) do
    lines[i + 1] = string.format("%s %s %.0f %s", one.id, one.sha256, one.made_at_ms, one.name)
  end
  return table.concat(lines, "\n")
end
