-- Stands before a key-locking script, as one line: refuses what Upstash refuses under that flag, and lets tests set the time.
local redis = (function(raw)
  local declared = {}
  for _, key in ipairs(KEYS) do declared[key] = true end
  local function guarded(run, command, ...)
    local name = string.upper(command)
    if name == "TIME" then
      local now_ms = tonumber(raw.call("GET", "test:now_ms") or nil)
      if now_ms then return { string.format("%.0f", math.floor(now_ms / 1000)), string.format("%.0f", now_ms % 1000 * 1000) } end
    end
    if name == "FLUSHDB" or name == "FLUSHALL" then error({ err = "ERR " .. name .. " is not allowed in Lua scripts when 'allow-key-locking' flag is set" }) end
    for _, key in ipairs(raw.pcall("COMMAND", "GETKEYS", command, ...)) do
      if not declared[key] then error({ err = "ERR Dynamic keys are not allowed in Lua scripts when 'allow-key-locking' flag is set. Key was: " .. key }) end
    end
    return run(command, ...)
  end
  return setmetatable({
    call = function(...) return guarded(raw.call, ...) end,
    pcall = function(...) return guarded(raw.pcall, ...) end,
  }, { __index = raw })
end)(redis)
