-- KEYS jobKey
-- ARGV base jobId keySpaceId result eventsPerJob retentionMs
-- REPLY OK
-- ERRORS JOB_NOT_RUNNING JOB_NOT_FOUND FORBIDDEN
--
-- End a running job with its result, and enqueue its callback.
--   result    JSON text
local job, callbackUrl, unique = loadJob(jobKey, base, jobId, 'callbackUrl', 'unique')
local refusal = refusalFor(job.status, job.space, keySpaceId)
if refusal then return { refusal } end
if job.status ~= 'running' then return { 'JOB_NOT_RUNNING', job.status } end

local nowMs, nowText = now()
moveToStatusIndex(job, 'completed')
if stored(unique) then freeUnique(job, unique, 'expired') end
startRetention(job, nowMs, retentionMs)
if stored(callbackUrl) then enqueueCallback(job, nowMs) end
recordEvent(job, nowText, 'completed', 'completed', result, eventsPerJob, 'result', result)
return { 'OK' }
