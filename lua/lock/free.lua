-- Give a lock back: only its owner does, since it may have ended and be another's by now.
--
-- lock_key  lock:<name>
--
-- freed
-- not_held    it has ended, or is another's
local lock_key = KEYS[1]
local owner    = ARGV[1]

if redis.call("GET", lock_key) ~= owner then return reply("not_held") end
redis.call("DEL", lock_key)
return reply("freed")
