-- Make an empty database a cell, once. The epoch starts at the time, so that a cell made again never repeats one.
--
-- meta_key  meta
-- cell is its name, shards the number of journal shards (fixed for its life), op_id the caller's id or empty.
--
-- created  epoch replayed   replayed 1: this op_id made it before
-- exists   cell epoch
local meta_key            = KEYS[1]
local cell, shards, op_id = ARGV[1], ARGV[2], ARGV[3]

local meta = redis.call("HMGET", meta_key, "cell", "epoch", "created_by")
if meta[1] and op_id ~= "" and meta[3] == op_id then return reply("created", tonumber(meta[2]), 1) end
if meta[1] then return reply("exists", meta[1], tonumber(meta[2])) end
local epoch = now_ms()
redis.call("HSET", meta_key, "cell", cell, "epoch", epoch, "format", 1, "shards", shards, "created_by", op_id)
return reply("created", epoch, 0)
