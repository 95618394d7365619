#!lua
-- Renews the lease of a server, or with 0 ends it, unless it is another's by now.
-- KEYS: the lease. ARGV: boot, milliseconds. Gives 1 where it is this one's.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[2] == '0' then return redis.call('DEL', KEYS[1]) end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
