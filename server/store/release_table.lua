#!lua
-- Gives a table up, unless somebody else has taken it over since, or this server has once more.
-- KEYS: marks. ARGV: owner, epoch. Gives 1 where it is free now.
local marks = redis.call('HMGET', KEYS[1], 'owner', 'epoch')
if marks[1] ~= ARGV[1] or marks[2] ~= ARGV[2] then return 0 end
return redis.call('HDEL', KEYS[1], 'owner')
