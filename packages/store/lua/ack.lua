-- KEYS job
-- ARGV base jobId keySpaceId eventsPerJob
--
-- Start the attempt of a delivered job: running, attempt + 1, execution window open, delivery time-outs counted from 0 again.
-- Returns {'OK'}; {'JOB_NOT_DELIVERED', status}; JOB_NOT_FOUND or FORBIDDEN.
-- @include clock job move_status implied publish record window
local found, deliveryTimeouts = loadJob(job, base, jobId, 'deliveryTimeouts')
local refusal = refuse(found, keySpaceId)
if refusal then return { refusal } end
if found.status ~= 'delivered' then return { 'JOB_NOT_DELIVERED', found.status } end

local now, at = nowMs()
moveStatus(found, 'running')
openWindow(found, now)
if stored(deliveryTimeouts) then redis.call('HDEL', job, 'deliveryTimeouts') end
record(found, at, 'acked', 'running', 'null', eventsPerJob, 'startedAt', at, 'attempt', digits(found.attempt + 1))
return { 'OK' }
