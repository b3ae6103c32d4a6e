-- KEYS job
-- ARGV base jobId keySpaceId failure eventsPerJob retentionMs
-- REPLY OK status:Status
-- ERRORS JOB_NOT_RUNNING JOB_NOT_FOUND FORBIDDEN
--
-- End the attempt of a running job: pending again while retries remain, else dead.
--   failure   JSON text of the worker's error
--   status    of the job now
local found = loadJob(job, base, jobId)
local refusal = refusalFor(found.status, found.space, keySpaceId)
if refusal then return { refusal } end
if found.status ~= 'running' then return { 'JOB_NOT_RUNNING', found.status } end

return { 'OK', failAttempt(found, now(), failure, eventsPerJob, retentionMs) }
