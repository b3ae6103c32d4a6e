-- KEYS counted
-- ARGV base seq agoMs cells...
-- REPLY OK
--
-- Add what a process has counted to the histories of its spaces, once: a process sends a step again until it has a reply.
-- Redis refuses the first write when memory is full, and nothing is added then.
--   counted  number of the last step that was added of this process
--   seq      number of this step; a process sends them in order
--   agoMs    how long ago it was counted
--   cells    of each: space, name, text of its counts: place, number, …
if tonumber(redis.call('GET', counted) or 0) >= tonumber(seq) then return { 'OK' } end
redis.call('SET', counted, seq, 'EX', '86400')

local OTHER_NAMES = '*' -- of names beyond the first 100 of a point

-- Add two texts of counts.
local function sumOf(text, other)
  local sums, places, parts = {}, {}, {}
  for place, number in string.gmatch(text .. ' ' .. other, '(%d+) (%d+)') do
    if not sums[place] then places[#places + 1] = place end
    sums[place] = (sums[place] or 0) + number
  end
  for i, place in ipairs(places) do parts[i] = place .. ' ' .. formatInteger(sums[place]) end
  return table.concat(parts, ' ')
end

-- Add counts to one point. A point has at most 100 names, and `*` for the others.
local function addTo(point, name, text, keptSeconds)
  local before = redis.call('HGET', point, name)
  if not before and name ~= OTHER_NAMES and redis.call('HLEN', point) >= 100 then
    name = OTHER_NAMES
    before = redis.call('HGET', point, name)
  end
  redis.call('HSET', point, name, before and sumOf(before, text) or text)
  redis.call('EXPIRE', point, keptSeconds)
end

local seconds = math.floor((now() - agoMs) / 1000)
for i = 1, #cells, 3 do
  local space, name, text = cells[i], cells[i + 1], cells[i + 2]
  local history = base .. 'space:' .. space .. '/history/'
  addTo(history .. '60/' .. formatInteger(seconds - seconds % 60), name, text, '172800') -- 48 hours
  addTo(history .. '3600/' .. formatInteger(seconds - seconds % 3600), name, text, '3024000') -- 35 days
end
return { 'OK' }
