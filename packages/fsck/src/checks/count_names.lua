-- KEYS jobs
-- ARGV base afterOrder limit
-- REPLY OK counted:number lastOrder names[] bytes[]
--
-- List the names of some jobs of a space, oldest first, and the bytes of those that are counted.
--   jobs         the space's /jobs
--   afterOrder   order of the last job listed before; '-inf' to begin
--   limit        maximum number of jobs, at most 100
--   names        one name per job
--   bytes        the field `bytes` of each record that has it; see lua/bytes of the store
local page = redis.call('ZRANGEBYSCORE', jobs, '(' .. afterOrder, '+inf', 'WITHSCORES', 'LIMIT', 0, limit)
local names, bytes = {}, {}
for i = 1, #page, 2 do
  local v = redis.call('HMGET', base .. 'job:' .. page[i], 'state', 'bytes')
  local _, name = spaceAndName(v[1])
  names[#names + 1] = name or ''
  bytes[#bytes + 1] = v[2] or nil
end
return { 'OK', #names, page[#page] or afterOrder, names, bytes }
