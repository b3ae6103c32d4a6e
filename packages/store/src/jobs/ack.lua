-- KEYS jobKey
-- ARGV base jobId keySpaceId eventsPerJob
-- REPLY OK
-- ERRORS JOB_NOT_DELIVERED JOB_NOT_FOUND FORBIDDEN
--
-- Start the attempt of a delivered job: running, attempt + 1, execution window open, delivery time-outs counted from 0
-- again.
local job, deliveryTimeouts, unique = loadJob(jobKey, base, jobId, 'deliveryTimeouts', 'unique')
local refusal = refusalFor(job.status, job.space, keySpaceId)
if refusal then return { refusal } end
if job.status ~= 'delivered' then return { 'JOB_NOT_DELIVERED', job.status } end

local nowMs, nowText = now()
moveToStatusIndex(job, 'running')
openWindow(job, nowMs, executionMs(job))
if stored(unique) and string.find(unique, '^started ') then
  freeUnique(job, unique)
  redis.call('HSET', jobKey, 'uniqueFreed', '1') -- A retry must not take the key back.
end
if stored(deliveryTimeouts) then redis.call('HDEL', jobKey, 'deliveryTimeouts') end
recordEvent(job, nowText, 'acked', 'running', 'null', eventsPerJob, 'startedAt', nowText, 'attempt', formatInteger(job.attempt + 1))
return { 'OK' }
