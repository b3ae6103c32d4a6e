-- KEYS job
-- ARGV base jobId keySpaceId reason eventsPerJob retentionMs
-- REPLY OK before:Status
-- ERRORS JOB_ENDED JOB_NOT_FOUND FORBIDDEN
--
-- End a job by force; a killed job stays as it is. No callback follows a kill.
--   reason    JSON text, a string or null
--   before    status that the job had
local found = loadJob(job, base, jobId)
local refusal = refusalFor(found.status, found.space, keySpaceId)
if refusal then return { refusal } end
if found.status == 'killed' then return { 'OK', 'killed' } end
if found.status == 'completed' or found.status == 'dead' then return { 'JOB_ENDED', found.status } end

local nowMs, at = now()
if found.status == 'pending' then dequeue(found) end
moveStatus(found, 'killed')
retain(found, nowMs, retentionMs)
record(found, at, 'killed', 'killed', '{"reason":' .. reason .. '}', eventsPerJob)
return { 'OK', found.status }
