-- KEYS jobKey
-- ARGV base jobId keySpaceId deliveryTimeoutMs eventsPerJob notAfter
-- REPLY OK space job?...
-- REPLY NOT_PENDING status:Status
-- REPLY PAUSED
-- ERRORS TOO_LATE JOB_NOT_FOUND FORBIDDEN
--
-- Claim this job if it is pending, and neither its name nor its space is paused.
--   notAfter  see isTooLate
--   space     of the job
--   job       its values, see appendClaimed
local job, payload = loadJob(jobKey, base, jobId, 'payload')
local refusal = refusalFor(job.status, job.space, keySpaceId)
if refusal then return { refusal } end
if job.status ~= 'pending' then return { 'NOT_PENDING', job.status } end

local nowMs, nowText = now()
if isTooLate(nowMs, notAfter) then return { 'TOO_LATE' } end
local space, paused = base .. 'space:' .. job.space .. '/', nil
if redis.call('EXISTS', space .. 'paused') == 1 then
  paused = pausedNames(space)
end
if paused and (paused[''] or paused[job.name]) then return { 'PAUSED' } end
dequeue(job)
markDelivered(job, nowMs, nowText, deliveryTimeoutMs, eventsPerJob)
local values = {}
appendClaimed(values, job, payload, nowMs)
return { 'OK', job.space, unpack(values) }
