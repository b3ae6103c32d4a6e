-- ARGV jobId
-- REPLY OK before:Status
-- ERRORS JOB_NOT_ENDED JOB_NOT_FOUND FORBIDDEN
-- REPLICATED
--
-- Delete an ended job with all of its data, and drop its pending callback.
--   before  status of the deleted job
local job, refusal = openJob(base, space, jobId)
if refusal then return refusal end
if job.status ~= 'completed' and job.status ~= 'dead' and job.status ~= 'killed' then return { 'JOB_NOT_ENDED', job.status } end

leave(base .. 'callbacks', jobId)
purge(job, nowMs)
return { 'OK', job.status }
