-- KEYS base
-- ARGV jobId space portion budget
-- REPLY OK record[] events[] length:number
-- REPLY LARGE
-- ERRORS JOB_NOT_FOUND FORBIDDEN
--
-- Read a job and the oldest `portion` entries of its history, as of one moment; or only report that they are large.
--   budget    bytes that both may have together; a larger reply is not returned
--   record    field, value, …
--   length    entries of the whole history
local job, refusal = openJob(base, space, jobId)
if refusal then return refusal end

local left = tonumber(budget)
-- Ask for the sizes of fields that may be large first, so that no large field is copied without need.
for _, field in ipairs({ 'payload', 'result', 'progress', 'checkpoint', 'error', 'callbackHeaders' }) do
  left = left - redis.call('HSTRLEN', job.key, field)
end

local events = has(job, 'h') and {} or impliedEntries(job)
local length = has(job, 'h') and redis.call('LLEN', job.key .. ':events') or #events
for first = #events, math.min(length, tonumber(portion)) - 1, 20 do
  if left < 0 then break end
  local last = math.min(first + 20, tonumber(portion)) - 1
  for _, entry in ipairs(redis.call('LRANGE', job.key .. ':events', first, last)) do
    events[#events + 1] = entry
    left = left - #entry
  end
end
if left < 0 then return { 'LARGE' } end
return { 'OK', redis.call('HGETALL', job.key), events, length }
