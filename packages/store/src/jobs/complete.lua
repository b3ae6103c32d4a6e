-- KEYS job
-- ARGV base jobId keySpaceId result eventsPerJob retentionMs
-- REPLY OK
-- ERRORS JOB_NOT_RUNNING JOB_NOT_FOUND FORBIDDEN
--
-- End a running job with its result, and enqueue its callback.
--   result    JSON text
local found, callbackUrl = loadJob(job, base, jobId, 'callbackUrl')
local refusal = refusalFor(found.status, found.space, keySpaceId)
if refusal then return { refusal } end
if found.status ~= 'running' then return { 'JOB_NOT_RUNNING', found.status } end

local nowMs, at = now()
moveStatus(found, 'completed')
retain(found, nowMs, retentionMs)
if stored(callbackUrl) then enqueueCallback(found, nowMs) end
record(found, at, 'completed', 'completed', result, eventsPerJob, 'result', result)
return { 'OK' }
