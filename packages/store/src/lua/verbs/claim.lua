-- ARGV notAfter jobId
-- REPLY OK space job?...
-- REPLY NOT_PENDING status:Status
-- REPLY PAUSED
-- ERRORS TOO_LATE JOB_NOT_FOUND FORBIDDEN
--
-- Claim a job by its ID, if it is pending and neither its name nor its space is paused.
--   space     space of the job
--   job       values of the job; see appendClaimed
if isTooLate(nowText, notAfter) then return { 'TOO_LATE' } end
local job, refusal, payload = openJob(base, space, jobId, 'payload')
if refusal then return refusal end
if job.status ~= 'pending' then return { 'NOT_PENDING', job.status } end

local prefix, paused = base .. 'space:' .. job.space .. '/', nil
if isAnythingPaused(prefix) then
  paused = pausedNames(prefix)
end
if paused and (paused[''] or paused[job.name]) then return { 'PAUSED' } end
dequeue(job)
markDelivered(job, nowMs, nowText)
local reply = { 'OK', job.space }
appendClaimed(reply, job, payload, nowMs)
return reply
