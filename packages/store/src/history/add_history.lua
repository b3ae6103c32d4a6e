-- KEYS counted
-- ARGV base seq agoMs cells...
-- REPLY OK
--
-- Add what a process has counted to the histories of its spaces, once: a process sends a step again until it has a reply.
-- Redis refuses the first write when memory is full, and nothing is added then. Nor is anything for a space without jobs.
--   counted  number of the last step that was added of this process
--   seq      number of this step; a process sends them in order
--   agoMs    how long ago it was counted
--   cells    of each: space, name, text of its counts: place, number, …
if tonumber(redis.call('GET', counted) or 0) >= tonumber(seq) then return { 'OK' } end
redis.call('SET', counted, seq, 'EX', '86400')

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
