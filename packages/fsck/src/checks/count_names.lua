-- KEYS jobs
-- ARGV base afterOrder limit
-- REPLY OK counted:number lastOrder names[]
--
-- List the names of some jobs of a space, oldest first.
--   jobs         the space's /jobs
--   afterOrder   that of the last one counted; '-inf' to begin
--   limit        jobs at most; at most 100
--   names        one for each job
local page = redis.call('ZRANGEBYSCORE', jobs, '(' .. afterOrder, '+inf', 'WITHSCORES', 'LIMIT', 0, limit)
local names = {}
for i = 1, #page, 2 do
  local _, name = spaceAndName(redis.call('HGET', base .. 'job:' .. page[i], 'state'))
  names[#names + 1] = name or ''
end
return { 'OK', #names, page[#page] or afterOrder, names }
