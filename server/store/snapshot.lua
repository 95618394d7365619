#!lua
-- Some keys as they are at one moment. KEYS: any. Gives for each {its type, when it expires in ms or below 0, its value
-- as the server lists it; for a sorted set none}.
local READ = {
  string = function(key) return {redis.call('GET', key)} end,
  hash = function(key) return redis.call('HGETALL', key) end,
  set = function(key) return redis.call('SMEMBERS', key) end,
  stream = function(key) return redis.call('XRANGE', key, '-', '+') end,
}
local found = {}
for at, key in ipairs(KEYS) do
  local kind = redis.call('TYPE', key).ok
  found[at] = {kind, redis.call('PEXPIRETIME', key), READ[kind] and READ[kind](key) or {}}
end
return found
