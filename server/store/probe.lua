#!lua
-- Does once what the store is asked to do all day, and leaves nothing behind for longer than a moment.
-- KEYS: a string, a hash, a stream, a set, a sorted set, all in one slot. ARGV: seconds until they go.
-- Gives nil, or the first command that is refused and what the server says of it.
local text, hash, stream, set, ranked = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local tries = {
  {'DEL', text, hash, stream, set, ranked},
  {'SET', text, 'x'},
  {'SET', text, 'y', 'KEEPTTL'},
  {'GET', text},
  {'HSET', hash, 'f', '1'},
  {'HMGET', hash, 'f', 'g'},
  {'HGETALL', hash},
  {'HDEL', hash, 'g'},
  {'XADD', stream, '1-0', 'e', 'x'},
  {'XREVRANGE', stream, '+', '-', 'COUNT', 1},
  {'XTRIM', stream, 'MINID', '1-0'},
  {'XDEL', stream, '1-0'},
  {'SADD', set, 'x'},
  {'SMEMBERS', set},
  {'ZADD', ranked, 'GT', 1, 'x'},
  {'ZRANGESTORE', ranked, ranked, 0, 9, 'REV'},
  {'EXPIRE', ranked, ARGV[1], 'NX'},
  {'EXPIREAT', ranked, 1, 'GT'},
  {'PEXPIRETIME', ranked},
}
for _, key in ipairs({text, hash, stream, set}) do tries[#tries + 1] = {'EXPIRE', key, ARGV[1]} end
for _, try in ipairs(tries) do
  local answer = redis.pcall(unpack(try))
  if type(answer) == 'table' and answer.err then return {try[1], answer.err} end
end
return nil
