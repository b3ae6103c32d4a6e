-- KEYS jobs
-- ARGV base afterOrder limit
--
-- Count the names of some jobs of a space, oldest first.
--   jobs         the space's /jobs
--   afterOrder   that of the last one counted; '-inf' to begin
--   limit        jobs at most; at most 100
-- Returns {'OK', jobs counted, order of the last of them, {name, …}}, a name for each.
-- @include job
local page = redis.call('ZRANGEBYSCORE', jobs, '(' .. afterOrder, '+inf', 'WITHSCORES', 'LIMIT', 0, limit)
local names = {}
for i = 1, #page, 2 do names[#names + 1] = stored(redis.call('HGET', base .. 'job:' .. page[i], 'name')) or '' end
return { 'OK', #names, page[#page] or afterOrder, { unpack(names) } } -- a constructor, see list.lua
