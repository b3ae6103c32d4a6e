-- KEYS job
-- ARGV base jobId keySpaceId deliveryTimeoutMs eventsPerJob deadline
-- REPLY OK job?[]
-- REPLY NOT_PENDING status:Status
-- ERRORS TOO_LATE JOB_NOT_FOUND FORBIDDEN
--
-- Deliver this one job if it is pending.
--   deadline  see isTooLate
--   job       see claimedJob
local found, payload, checkpoint = loadJob(job, base, jobId, 'payload', 'checkpoint')
local refusal = refusalFor(found.status, found.space, keySpaceId)
if refusal then return { refusal } end
if found.status ~= 'pending' then return { 'NOT_PENDING', found.status } end

local nowMs, at = now()
if isTooLate(nowMs, deadline) then return { 'TOO_LATE' } end
dequeue(found)
deliver(found, nowMs, at, deliveryTimeoutMs, eventsPerJob)
return { 'OK', claimedJob(found, payload, checkpoint) }
