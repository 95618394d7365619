#!lua
-- Counts a result on the boards of its game, unless it has been counted or counting is paused.
-- KEYS: counted, paused, seen, pairs of that day. ARGV: what the game's keys begin with, id of the result, when the game was over, now,
-- and as JSON: periods, each with its name and when it may go (0: never); orders, each with its name and the fields that
-- it ranks by, `of` for each of `per` (if any), from so many games on; people, each with id, name, face, won, what is to
-- be added to which field, best reaction (0: none) and the steps that their reactions fell into.
-- Gives nil, PAUSED, or {FOREIGN, key, what is wrong}. The rows and orders are in the same slot of a cluster.
local counted_key, paused_key, seen_key, pairs_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local PAIRS_STAY_S = 3 * 86400
local prefix, id, at_s, now_s = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local told = cjson.decode(ARGV[5])

if redis.call('EXISTS', paused_key) == 1 then return 'PAUSED' end

-- Nothing is written before all is known to fit: what a script has written when it fails stays.
local function foreign(key, kind)
  local found = redis.call('TYPE', key).ok
  if found ~= 'none' and found ~= kind then
    return {'FOREIGN', key, 'not ours: a ' .. found .. ' is kept there'}
  end
end
local periods = {}
for _, period in ipairs(told.periods) do
  local name, until_s = period[1], period[2]
  -- A result that waited for so long that its week has gone counts for the rest.
  if until_s == 0 or until_s > now_s then
    periods[#periods + 1] = {prefix .. name .. ':', until_s}
    for _, order in ipairs(told.orders) do
      local wrong = foreign(prefix .. name .. ':' .. order.name, 'zset')
      if wrong then return wrong end
    end
    for _, person in ipairs(told.people) do
      local wrong = foreign(prefix .. name .. ':row:' .. person.id, 'hash')
      if wrong then return wrong end
    end
  end
end
local wrong = foreign(seen_key, 'zset') or foreign(counted_key, 'zset') or foreign(pairs_key, 'hash')
if wrong then return wrong end

if redis.call('ZADD', counted_key, 'NX', at_s, id) == 0 then return nil end

-- The reaction that half of all are quicker than; within a step they are taken to lie evenly.
local function median(row)
  local steps, total = {}, 0
  for field, count in pairs(row) do
    local step = tonumber(field)
    if step then
      steps[#steps + 1] = step
      total = total + tonumber(count)
    end
  end
  table.sort(steps)
  local left = total / 2
  for _, step in ipairs(steps) do
    local count = tonumber(row[tostring(step)])
    if left <= count then return math.floor(2 ^ ((step + left / count) / told.steps_an_octave) + 0.5) end
    left = left - count
  end
end

-- It counts for whoever has played it with somebody with whom they have not played so often yet on that day.
local fresh = {}
if #told.people == 1 then fresh[told.people[1].id] = true end
for one = 1, #told.people do
  for other = one + 1, #told.people do
    local a, b = told.people[one].id, told.people[other].id
    -- Of two people who are forgotten no id stays.
    local pair = string.sub(redis.sha1hex(pairs_key .. (a < b and a .. b or b .. a)), 1, 16)
    if (tonumber(redis.call('HGET', pairs_key, pair)) or 0) < told.pair_a_day then
      redis.call('HINCRBY', pairs_key, pair, 1)
      fresh[a], fresh[b] = true, true
    end
  end
end
if next(fresh) then redis.call('EXPIRE', pairs_key, PAIRS_STAY_S) end

for _, person in ipairs(told.people) do
  for _, period in ipairs(fresh[person.id] and periods or {}) do
    local begins, until_s = period[1], period[2]
    local row_key, row = begins .. 'row:' .. person.id, {}
    local kept = redis.call('HGETALL', row_key)
    for at = 1, #kept, 2 do row[kept[at]] = kept[at + 1] end

    for field, amount in pairs(person.sums) do row[field] = (tonumber(row[field]) or 0) + amount end
    row.run = person.won and (tonumber(row.run) or 0) + 1 or 0
    local streak = math.max(tonumber(row.streak) or 0, row.run)
    row.streak = streak > 0 and streak or nil
    row.name, row.face = person.name, person.face
    if person.best > 0 then
      row.best = math.min(tonumber(row.best) or person.best, person.best)
      for _, step in ipairs(person.steps) do
        row[tostring(step)] = (tonumber(row[tostring(step)]) or 0) + 1
      end
      row.median = median(row)
    end

    local scores = {}
    for _, order in ipairs(told.orders) do
      local of, per = tonumber(row[order.of]), order.per == '' and 1 or tonumber(row[order.per]) or 0
      if of and per > 0 and row.games >= order.from_games then scores[order.name] = of / per end
    end

    local fields = {}
    for field, value in pairs(row) do
      fields[#fields + 1] = field
      fields[#fields + 1] = type(value) == 'number' and string.format('%.17g', value) or value
    end
    redis.call('HSET', row_key, unpack(fields))
    for order, score in pairs(scores) do
      redis.call('ZADD', begins .. order, string.format('%.17g', score), person.id)
    end
    if until_s > 0 then
      redis.call('EXPIREAT', row_key, until_s, 'NX')
      for order in pairs(scores) do redis.call('EXPIREAT', begins .. order, until_s, 'NX') end
    end
  end
  if fresh[person.id] then redis.call('ZADD', seen_key, 'GT', at_s, person.id) end
end
return nil
