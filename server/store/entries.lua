#!lua
-- Some changes of a journal, as the server lists them, for a client makes a mapping of an entry's fields, of which many
-- have the same name. KEYS: journal. ARGV: the id to begin at, `(` before it if beyond it, and how many.
return redis.call('XRANGE', KEYS[1], ARGV[1], '+', 'COUNT', ARGV[2])
