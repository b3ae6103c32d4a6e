-- KEYS job
-- ARGV base jobId keySpaceId reason eventsPerJob retentionMs
--
-- Force-stop a job that has not ended; a killed job stays as it is. No callback follows a kill.
--   reason    JSON text, a string or null
-- Returns {'OK', status before}; {'JOB_ENDED', status}; JOB_NOT_FOUND or FORBIDDEN.
-- @include clock job move_status queue implied publish record retain
local found = loadJob(job, base, jobId)
local refusal = refuse(found, keySpaceId)
if refusal then return { refusal } end
if found.status == 'killed' then return { 'OK', 'killed' } end
if found.status == 'completed' or found.status == 'dead' then return { 'JOB_ENDED', found.status } end

local now, at = nowMs()
if found.status == 'pending' then dequeue(found) end
moveStatus(found, 'killed')
retain(found, now, retentionMs)
record(found, at, 'killed', 'killed', '{"reason":' .. reason .. '}', eventsPerJob)
return { 'OK', found.status }
