-- A change once by its op_id: who comes again with the same arguments gets the first answer.
--
-- op:<tenant>:<op>   1 fingerprint answer   the answer is what the script packs
local function claim_op(key, fingerprint, answer, over_at_ms)
  return redis.call("SET", key, "1 " .. fingerprint .. " " .. answer, "NX", "PXAT", over_at_ms)
end

-- nil when the op_id is new; else its answer, or nil and true when it was for other arguments.
local function earlier_op(key, fingerprint)
  local text = redis.call("GET", key)
  if not text then return nil, false end
  local before, answer = string.match(text, "^1 (%S+) (.*)$")
  if before ~= fingerprint then return nil, true end
  return answer, false
end
