-- KEYS job
-- ARGV base jobId keySpaceId eventsPerJob
-- REPLY OK
-- ERRORS JOB_NOT_DELIVERED JOB_NOT_FOUND FORBIDDEN
--
-- Start the attempt of a delivered job: running, attempt + 1, execution window open, delivery time-outs counted from 0
-- again.
local found, deliveryTimeouts = loadJob(job, base, jobId, 'deliveryTimeouts')
local refusal = refusalFor(found.status, found.space, keySpaceId)
if refusal then return { refusal } end
if found.status ~= 'delivered' then return { 'JOB_NOT_DELIVERED', found.status } end

local nowMs, at = now()
moveStatus(found, 'running')
openWindow(found, nowMs, executionMs(found))
if stored(deliveryTimeouts) then redis.call('HDEL', job, 'deliveryTimeouts') end
record(found, at, 'acked', 'running', 'null', eventsPerJob, 'startedAt', at, 'attempt', digits(found.attempt + 1))
return { 'OK' }
