-- KEYS jobs
-- ARGV base space order min max most statuses tags names...
-- REPLY OK reached found[]
--
-- Find jobs of a space in creation order, without reading their records. See list.lua for the other inputs and `reached`.
--   most   maximum number of entries to examine
--   found  for each job: its ID, and the bytes of its payload and result
most = tonumber(most)
local placeOf, ids = entriesOf(indexesFor(base .. 'space:' .. space .. '/', statuses, tags), order, min, max, most + 1)
local passes, found = filterBy(statuses, tags, names), {}
for at = 1, math.min(most, #ids) do
  local key = base .. 'job:' .. ids[at]
  if passes(key) then
    local bytes = redis.call('HSTRLEN', key, 'payload') + redis.call('HSTRLEN', key, 'result')
    found[#found + 1], found[#found + 2] = ids[at], tostring(bytes)
  end
end
return { 'OK', ids[most + 1] and placeOf(most) or '', found }
