-- What this database does of the dialect that the scripts rely on. Each check alone, so that one failure hides no other.
--
-- probe_key   probe      the last word of each check, gone after a minute
-- stream_key  probe:stream
-- full 0 only asks the time.
--
-- probed  now_ms failures   JSON list of what it does not do: time, xadd, pxat, digits, nx, range
local probe_key, stream_key = KEYS[1], KEYS[2]
local full                  = ARGV[1] == "1"

local failures = {}
local function check(name, passes)
  if not passes then failures[#failures + 1] = '"' .. name .. '"' end
end
local function try(...)
  local answer = redis.pcall(...)
  return not (type(answer) == "table" and answer.err) and answer
end

local now = now_ms()
check("time", now > 1700000000000)
if full then
  local MOST = "9007199254740991"
  check("digits", string.format("%.0f", 2 ^ 53 - 1) == MOST and cjson.decode("[" .. MOST .. "]")[1] == 2 ^ 53 - 1)
  check("pxat", try("SET", probe_key, MOST, "PXAT", now + 60000) and try("GET", probe_key) == MOST
    and try("PTTL", probe_key) > 0)
  check("nx", try("SET", probe_key, "other", "NX", "PXAT", now + 60000) == false and try("GET", probe_key) == MOST)
  check("xadd", try("XADD", stream_key, "MAXLEN", 1, "*", "n", MOST) and try("PEXPIRE", stream_key, 60000))
  try("DEL", probe_key)
  check("range", try("ZADD", probe_key, now, "a") == 1
    and (try("ZRANGE", probe_key, "-inf", now, "BYSCORE", "LIMIT", 0, 1) or {})[1] == "a")
  try("DEL", probe_key)
end
return reply("probed", now, "[" .. table.concat(failures, ",") .. "]")
