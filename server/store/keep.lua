#!lua
-- Keeps one change of a table, all of it or nothing.
-- KEYS: table, marks, journal, results, scores, rewritten. ARGV: epoch, number, seconds to keep the table, seconds to keep
-- the journal, whether the first entry deals a game (1 or 0), how many games to keep with it (0: none that began before),
-- record or '', scores or '', id of a result or '', the result, the id under which the first entry stands in `rewritten`,
-- which then takes the journal's place, or '', and entries.
-- Gives nil, {FENCED, where the journal stands}, or {FOREIGN, key, what is wrong}.
local table_key, marks_key, journal_key, results_key, scores_key, rewritten_key = unpack(KEYS)
local epoch, number, keep_s, keep_journal_s = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local deals, games = ARGV[5] == '1', tonumber(ARGV[6])
local record, scores, result_id, result, rewritten = ARGV[7], ARGV[8], ARGV[9], ARGV[10], ARGV[11]
local FIRST_ENTRY, DAY_S = 12, 86400

-- Nothing is written before all is known to fit: what a script has written when it fails stays.
for at, kind in ipairs({'string', 'hash', 'stream', 'hash', 'string', 'stream'}) do
  local found = redis.call('TYPE', KEYS[at]).ok
  if found ~= 'none' and found ~= kind then
    return {'FOREIGN', KEYS[at], 'not ours: a ' .. found .. ' is kept there'}
  end
end

local last = redis.call('XREVRANGE', journal_key, '+', '-', 'COUNT', 1)[1]
local stands = last and last[1] or 'nothing'
local last_epoch, last_number = string.match(stands, '^(%d+)-(%d+)$')
if last_epoch ~= epoch or tonumber(last_number) < number - 1 then return {'FENCED', stands} end
if tonumber(last_number) >= number then return nil end

local id = ARGV[1] .. '-' .. ARGV[2]
local fields = {}
for at = FIRST_ENTRY, #ARGV do
  fields[#fields + 1] = 'e'
  fields[#fields + 1] = ARGV[at]
end
if #fields == 0 then fields = {'kept', ''} end
if rewritten ~= '' then
  redis.call('RENAME', rewritten_key, journal_key)
  last = nil
end
local added = redis.pcall('XADD', journal_key, id, unpack(fields))
if type(added) == 'table' then
  if not string.find(added.err, 'equal or smaller', 1, true) then return added end
  return {'FENCED', stands}
end
-- A change without entries says nothing but its number, which this one repeats.
if last and last[2][1] ~= 'e' then redis.call('XDEL', journal_key, last[1]) end
if record ~= '' then redis.call('SET', table_key, record, 'KEEPTTL') end
if scores ~= '' then redis.call('SET', scores_key, scores, 'KEEPTTL') end
if result_id ~= '' then redis.call('HSET', results_key, result_id, result) end
if deals or games == 0 then
  local kept = {}
  for deal in string.gmatch(redis.call('HGET', marks_key, 'deals') or '', '%S+') do kept[#kept + 1] = deal end
  local first = rewritten ~= '' and rewritten or id
  if deals then kept[#kept + 1] = first end
  while #kept > math.max(games, deals and 1 or 0) do table.remove(kept, 1) end
  redis.call('HSET', marks_key, 'deals', table.concat(kept, ' '))
  redis.call('XTRIM', journal_key, 'MINID', kept[1] or id)
end

-- To the day is near enough, and spares most changes the writing.
local function live(key, seconds)
  if redis.call('TTL', key) < seconds - DAY_S then redis.call('EXPIRE', key, seconds) end
end
live(table_key, keep_s)
live(scores_key, keep_s)
live(marks_key, keep_s)
live(journal_key, keep_journal_s)
return nil
