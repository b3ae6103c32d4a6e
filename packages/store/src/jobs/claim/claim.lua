-- KEYS jobKey
-- ARGV base jobId keySpaceId deliveryTimeoutMs eventsPerJob notAfter
-- REPLY OK space job?...
-- REPLY NOT_PENDING status:Status
-- ERRORS TOO_LATE JOB_NOT_FOUND FORBIDDEN
--
-- Claim this job if it is pending.
--   notAfter  see isTooLate
--   space     of the job
--   job       its values, see appendClaimed
local job = loadWhole(jobKey, base, jobId)
local refusal = refusalFor(job.status, job.space, keySpaceId)
if refusal then return { refusal } end
if job.status ~= 'pending' then return { 'NOT_PENDING', job.status } end

local nowMs, nowText = now()
if isTooLate(nowMs, notAfter) then return { 'TOO_LATE' } end
dequeue(job)
markDelivered(job, nowMs, nowText, deliveryTimeoutMs, eventsPerJob)
local values = {}
appendClaimed(values, job, nowText)
return { 'OK', job.space, unpack(values) }
