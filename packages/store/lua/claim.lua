-- KEYS job
-- ARGV base jobId keySpaceId deliveryTimeoutMs eventsPerJob
--
-- Hand out this one job if it is pending.
-- Returns {'OK', claimed}, see deliver; {'NOT_PENDING', status}; JOB_NOT_FOUND or FORBIDDEN.
-- @include clock job move_status queue publish record deliver
local found = loadJob(job, base, jobId)
local refusal = refuse(found, keySpaceId)
if refusal then return { refusal } end
if found.status ~= 'pending' then return { 'NOT_PENDING', found.status } end

return { 'OK', deliver(found, nowMs(), deliveryTimeoutMs, eventsPerJob) }
