-- KEYS counted
-- ARGV base seq agoMs cells...
-- REPLY OK
--
-- Add the counts of a process to the histories of its spaces, exactly once: a process retries a step until it gets a reply. On a
-- full Redis, the first write is refused and nothing is added. A space without jobs gets no counts.
--   counted  number of the last step added for this process
--   seq      number of this step; a process sends its steps in order
--   agoMs    how long ago the counts were taken
--   cells    space, name and counts of each cell; counts are a text of place, number, …
if tonumber(redis.call('GET', counted) or 0) >= tonumber(seq) then return { 'OK' } end
redis.call('SET', counted, seq, 'EX', '86400')

-- Add up two texts of counts.
local function sumOf(text, other)
  local sums, places, parts = {}, {}, {}
  for place, number in string.gmatch(text .. ' ' .. other, '(%d+) (%d+)') do
    if not sums[place] then places[#places + 1] = place end
    sums[place] = (sums[place] or 0) + number
  end
  for i, place in ipairs(places) do parts[i] = place .. ' ' .. formatInteger(sums[place]) end
  return table.concat(parts, ' ')
end

local seconds, hasJobs = math.floor((now() - agoMs) / 1000), {}
for i = 1, #cells, 3 do
  local prefix, name = base .. 'space:' .. cells[i] .. '/', cells[i + 1]
  local history, hour = prefix .. 'history/', formatInteger(seconds - seconds % 3600)
  if hasJobs[prefix] == nil then hasJobs[prefix] = redis.call('EXISTS', prefix .. 'jobs') == 1 end
  if hasJobs[prefix] and redis.call('HEXISTS', history .. '3600/' .. hour, name) == 0 then name = countedName(history, name, seconds) end
  for step, keptSeconds in pairs(hasJobs[prefix] and KEPT_SECONDS or {}) do
    local point = step .. '/' .. formatInteger(seconds - seconds % step)
    local key = history .. point
    local before = redis.call('HGET', key, name)
    redis.call('HSET', key, name, before and sumOf(before, cells[i + 2]) or cells[i + 2])
    redis.call('EXPIRE', key, keptSeconds)
    if not before and redis.call('HLEN', key) == 1 then beginPoint(history, step, point, seconds) end
  end
end
return { 'OK' }
