-- KEYS jobs
-- ARGV base afterOrder limit
-- REPLY OK counted:number lastOrder names[] bytes[]
--
-- List the names of some jobs of a space, oldest first, and what those say about their bytes that are counted.
--   jobs         the space's /jobs
--   afterOrder   that of the last one counted; '-inf' to begin
--   limit        jobs at most; at most 100
--   names        one for each job
--   bytes        field of the record, see lua/bytes of the store; fewer than there are names
local page = redis.call('ZRANGEBYSCORE', jobs, '(' .. afterOrder, '+inf', 'WITHSCORES', 'LIMIT', 0, limit)
local names, bytes = {}, {}
for i = 1, #page, 2 do
  local v = redis.call('HMGET', base .. 'job:' .. page[i], 'state', 'bytes')
  local _, name = spaceAndName(v[1])
  names[#names + 1] = name or ''
  bytes[#bytes + 1] = v[2] or nil
end
return { 'OK', #names, page[#page] or afterOrder, names, bytes }
