-- KEYS job
-- ARGV base jobId keySpaceId result eventsPerJob retentionMs
--
-- End a running job with its result.
--   result    JSON text
-- Returns {'OK'}; {'JOB_NOT_RUNNING', status}; JOB_NOT_FOUND or FORBIDDEN.
-- @include clock job move_status implied publish record owe retain
local found, callbackUrl = loadJob(job, base, jobId, 'callbackUrl')
local refusal = refuse(found, keySpaceId)
if refusal then return { refusal } end
if found.status ~= 'running' then return { 'JOB_NOT_RUNNING', found.status } end

local now, at = nowMs()
moveStatus(found, 'completed')
retain(found, now, retentionMs)
if stored(callbackUrl) then owe(found, now) end
record(found, at, 'completed', 'completed', result, eventsPerJob, 'result', result)
return { 'OK' }
