-- KEYS job
-- ARGV base jobId keySpaceId deliveryTimeoutMs eventsPerJob deadline
--
-- Hand out this one job if it is pending.
-- Returns {'OK', claimed}, see deliver; {'NOT_PENDING', status}; {'TOO_LATE'}, see isTooLate; JOB_NOT_FOUND or FORBIDDEN.
-- @include clock job move_status queue implied publish record deliver
local found, payload, checkpoint = loadJob(job, base, jobId, 'payload', 'checkpoint')
local refusal = refuse(found, keySpaceId)
if refusal then return { refusal } end
if found.status ~= 'pending' then return { 'NOT_PENDING', found.status } end

local now, at = nowMs()
if isTooLate(now, deadline) then return { 'TOO_LATE' } end
dequeue(found)
deliver(found, now, at, deliveryTimeoutMs, eventsPerJob)
return { 'OK', claimedJob(found, payload, checkpoint) }
