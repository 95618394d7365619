#!lua
-- Has a person called otherwise on the boards of one game, where they have a row.
-- KEYS: their rows. ARGV: name, and face (empty: as before).
for _, key in ipairs(KEYS) do
  if redis.call('EXISTS', key) == 1 then
    redis.call('HSET', key, 'name', ARGV[1])
    if ARGV[2] ~= '' then redis.call('HSET', key, 'face', ARGV[2]) end
  end
end
return nil
