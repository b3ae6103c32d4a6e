-- KEYS job
-- ARGV base jobId keySpaceId failure eventsPerJob retentionMs
--
-- End the attempt of a running job: pending again while retries remain, else dead.
--   failure    JSON text of what the worker gave as error
-- Returns {'OK', status now}; {'JOB_NOT_RUNNING', status}; JOB_NOT_FOUND or FORBIDDEN.
-- @include clock order job move_status queue implied publish record owe retain die take_back fail_attempt
local found = loadJob(job, base, jobId)
local refusal = refuse(found, keySpaceId)
if refusal then return { refusal } end
if found.status ~= 'running' then return { 'JOB_NOT_RUNNING', found.status } end

return { 'OK', failAttempt(found, nowMs(), failure, eventsPerJob, retentionMs) }
