-- ARGV jobId
-- REPLY OK before:Status
-- ERRORS JOB_NOT_ENDED JOB_NOT_FOUND FORBIDDEN
-- REPLICATED
--
-- Remove an ended job with everything it has, also a callback that is still owed.
--   before  status that the job had
local job, refusal = openJob(base, space, jobId)
if refusal then return refusal end
if job.status ~= 'completed' and job.status ~= 'dead' and job.status ~= 'killed' then return { 'JOB_NOT_ENDED', job.status } end

leave(base .. 'callbacks', jobId)
purge(job, nowMs)
return { 'OK', job.status }
