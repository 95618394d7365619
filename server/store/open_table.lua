#!lua
-- Takes a table over: a new epoch, which the journal's next id carries so that the server refuses the old owner's.
-- KEYS: table, marks, journal, results, scores. ARGV: seconds to keep the table, seconds to keep the journal, the new owner or
-- '', and the one whose table it must still be: '' for nobody's, * for anybody's.
-- Gives {record, scores or '', epoch, id of the last deal or ''}, nil where there is no table, OWNED where it is another's
-- by now, or {FOREIGN, key, what is wrong}.
local table_key, marks_key, journal_key, scores_key = KEYS[1], KEYS[2], KEYS[3], KEYS[5]

for at, kind in ipairs({'string', 'hash', 'stream', 'hash', 'string'}) do
  local found = redis.call('TYPE', KEYS[at]).ok
  if found ~= 'none' and found ~= kind then
    return {'FOREIGN', KEYS[at], 'not ours: a ' .. found .. ' is kept there'}
  end
end
local record = redis.call('GET', table_key)
if not record then return nil end

if ARGV[4] ~= '*' and (redis.call('HGET', marks_key, 'owner') or '') ~= ARGV[4] then return 'OWNED' end

local last = redis.call('XREVRANGE', journal_key, '+', '-', 'COUNT', 1)[1]
local marks = redis.call('HMGET', marks_key, 'epoch', 'deals')
local marked = tonumber(marks[1] or '0')
local written = last and tonumber(string.match(last[1], '^%d+')) or 0
-- Numbers here are doubles: beyond 2^53 one more would be the same.
if not marked or math.max(marked, written) >= 2 ^ 53 then
  return {'FOREIGN', marked and journal_key or marks_key, 'no epoch of ours: ' .. (marked and last[1] or marks[1])}
end
local epoch = string.format('%.0f', math.max(marked, written) + 1)
local opened = redis.pcall('XADD', journal_key, epoch .. '-0', 'opened', '')
if type(opened) == 'table' then
  if not string.find(opened.err, 'equal or smaller', 1, true) then return opened end
  return {'FOREIGN', journal_key, 'its last id is not one of ours'}
end
-- A change without entries says nothing but its number, which the next one repeats.
if last and last[2][1] ~= 'e' then redis.call('XDEL', journal_key, last[1]) end
redis.call('HSET', marks_key, 'epoch', epoch)
if ARGV[3] ~= '' then redis.call('HSET', marks_key, 'owner', ARGV[3]) else redis.call('HDEL', marks_key, 'owner') end
redis.call('EXPIRE', table_key, ARGV[1])
redis.call('EXPIRE', marks_key, ARGV[1])
redis.call('EXPIRE', scores_key, ARGV[1])
redis.call('EXPIRE', journal_key, ARGV[2])

local deal = string.match(marks[2] or '', '%S+$')
return {record, redis.call('GET', scores_key) or '', epoch, deal or ''}
