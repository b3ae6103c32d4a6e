-- Two keys bound the history of a space. They expire with its last point:
--   /history/names    zset: at most 100 job names; score: epoch seconds at which a name was first counted in its latest hour
--   /history/points   hash: `<step>/<start>` of each point → its bytes, 0 until the point is over; `<step>` → the latest point;
--                     `sum` → the sum of the bytes

-- How long points are kept, in seconds, by step.
local LONGEST_SECONDS, MAX_BYTES = 3024000, 8388608
local KEPT_SECONDS = { ['60'] = 172800, ['3600'] = LONGEST_SECONDS }

-- Return the name under which to count a job name: itself, or `*` if the history has had 100 others in the last 35 days.
local function countedName(history, name, seconds)
  local names = history .. 'names'
  if name ~= '*' and not redis.call('ZSCORE', names, name) then
    redis.call('ZREMRANGEBYSCORE', names, '-inf', formatInteger(seconds - LONGEST_SECONDS))
    if redis.call('ZCARD', names) >= 100 then name = '*' end
  end
  if name == '*' then return name end
  redis.call('ZADD', names, 'GT', formatInteger(seconds), name)
  redis.call('EXPIRE', names, LONGEST_SECONDS)
  return name
end

-- Register a new point and measure the previous one, which is over. Beyond 8 MB, drop the points in the oldest tenth of the
-- history's age, relative to how long each is kept. If that is not enough, the next new point drops more.
local function beginPoint(history, step, point, seconds)
  local points, sum = history .. 'points', 0
  local last = redis.call('HGET', points, step)
  redis.call('HSET', points, step, point, point, '0')
  redis.call('EXPIRE', points, LONGEST_SECONDS)
  local bytes = last and redis.call('MEMORY', 'USAGE', history .. last, 'SAMPLES', '0')
  if bytes then
    sum = redis.call('HINCRBY', points, 'sum', formatInteger(bytes - (redis.call('HGET', points, last) or 0)))
    redis.call('HSET', points, last, formatInteger(bytes))
  end
  -- At most 2,880 minutes and 840 hours exist. Any more are points that have expired.
  if sum <= MAX_BYTES and redis.call('HLEN', points) <= 4000 then return end
  local ages, oldest, fields = {}, 0, redis.call('HGETALL', points)
  for i = 1, #fields, 2 do
    local ofStep, start = string.match(fields[i], '^(%d+)/(%d+)$')
    if start then ages[i] = (seconds - start) / KEPT_SECONDS[ofStep] end
    oldest = math.max(oldest, ages[i] or 0)
  end
  for i, age in pairs(ages) do
    if age > 1 or (sum > MAX_BYTES and age > 0.9 * oldest) then
      redis.call('UNLINK', history .. fields[i])
      redis.call('HDEL', points, fields[i])
      redis.call('HINCRBY', points, 'sum', formatInteger(0 - fields[i + 1])) -- HINCRBY refuses -0.
    end
  end
end

-- Remove the history of a space without jobs.
local function forgetHistory(history)
  local keys = redis.call('HKEYS', history .. 'points')
  for i = 1, #keys do keys[i] = history .. keys[i] end
  for i = 1, #keys, 1000 do redis.call('UNLINK', unpack(keys, i, math.min(i + 999, #keys))) end
  redis.call('UNLINK', history .. 'points', history .. 'names')
end
