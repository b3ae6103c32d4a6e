-- KEYS recounts
-- ARGV base limit
-- REPLY OK wasDue:number
--
-- Recount the bytes of one space, one step at a time: measure its next jobs, so that its sum becomes correct whatever was wrong
-- before. The space is the partition's space that has waited longest. A job that another script measures in the meantime also
-- counts in the new sum. See lua/bytes.
--   limit    maximum number of jobs; fewer when they are large
--   wasDue   1 if a step was done
local nowMs, nowText = now()
local space = redis.call('ZRANGEBYSCORE', recounts, '-inf', nowText, 'LIMIT', 0, 1)[1]
if not space then return { 'OK', 0 } end
redis.call('ZREM', recounts, space) -- first; see replaceEntry
applyMaxBytes(base, space, maxBytesIn(settingsText(base, space)) or '')
local prefix = base .. 'space:' .. space .. '/'
local sums = prefix .. 'bytes'
local round, cursor, sum, rest = unpack(redis.call('HMGET', sums, 'round', 'cursor', 'sum', 'rest'))
if not round then return { 'OK', 1 } end -- the setting is gone

if not cursor then
  round, cursor = nowText, '-inf'
  redis.call('HSET', sums, 'round', round, 'sum', '0', 'rest', formatInteger((sum or 0) + (rest or 0)))
end

-- Measure one job, and return its bytes.
local function measure(id)
  local job = loadJob(base, id)
  if not job.status then return 0 end
  if not has(job, 'b') then
    setFlag(job, 'b')
    redis.call('HSET', job.key, 'state', stateOf(job, job.status, job.updatedAt))
  end
  return countBytes(job)
end

local page = redis.call('ZRANGEBYSCORE', prefix .. 'jobs', '(' .. cursor, '+inf', 'WITHSCORES', 'LIMIT', 0, limit)
local bytes, isLast = 0, #page < 2 * limit
for i = 1, #page, 2 do
  if bytes > 16777216 then isLast = false break end
  local isValid, ofJob = pcall(measure, page[i]) -- fsck reports an invalid record
  cursor, bytes = page[i + 1], bytes + (isValid and ofJob or 0)
end
if isLast then
  redis.call('HDEL', sums, 'cursor', 'rest')
else
  redis.call('HSET', sums, 'cursor', cursor)
end
redis.call('ZADD', recounts, formatInteger(isLast and nowMs + 3600000 or nowMs), space)
return { 'OK', 1 }
