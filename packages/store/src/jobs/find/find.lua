-- KEYS jobs
-- ARGV base space order min max most statuses tags names...
-- REPLY OK reached found[]
--
-- Find some jobs of a space by creation, without their records: see list.lua for what is not said here.
--   most   entries to examine
--   found  of each job its id and the bytes of its payload and result, in turn
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
