-- KEYS jobs
-- ARGV base space order min max most statuses tags names...
-- REPLY OK reached hasMore:number found[]
--
-- Find some jobs of a space by creation, without their records: see list.lua for what is not said here.
--   most   entries to examine
--   found  of each job its id, its place, and the bytes of its payload and result, in turn
most = tonumber(most)
local entries = entriesOf(indexesFor(base .. 'space:' .. space .. '/', statuses, tags), order, min, max, most + 1)
local passes, found, last = filterBy(statuses, tags, names), {}, math.min(2 * most, #entries)
for at = 1, last, 2 do
  local key = base .. 'job:' .. entries[at]
  if passes(key) then
    local n = #found
    found[n + 1], found[n + 2] = entries[at], entries[at + 1]
    found[n + 3] = tostring(redis.call('HSTRLEN', key, 'payload') + redis.call('HSTRLEN', key, 'result'))
  end
end
-- A constructor, see list.lua.
return { 'OK', entries[last] or '', entries[last + 1] and 1 or 0, { unpack(found) } }
