-- Take a lock that ends by itself, so that of several who would do the same one does. Whoever has it may take it again: its
-- time begins anew.
--
-- lock_key  lock:<name>
-- owner is new for each run of a piece of work.
--
-- taken
-- held    somebody else has it
local lock_key      = KEYS[1]
local owner, for_ms = ARGV[1], tonumber(ARGV[2])

local holder = redis.call("GET", lock_key)
if holder and holder ~= owner then return reply("held") end
redis.call("SET", lock_key, owner, "PX", for_ms)
return reply("taken")
