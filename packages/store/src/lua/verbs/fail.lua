-- ARGV jobId deliveryToken errorJson isRetryable retryAfterMs random
-- REPLY OK status:Status attempt:number space runMs:number name
-- REPLY UNCHANGED
-- ERRORS JOB_NOT_RUNNING DELIVERY_LOST JOB_NOT_FOUND FORBIDDEN
-- REPLICATED
--
-- End the attempt of a running job as failed. The job is retried while retries remain; otherwise it is dead.
--   deliveryToken  see replyToGivingUp
--   errorJson      JSON text of the worker's error
--   isRetryable    '0' to make the job dead without further retries
--   retryAfterMs   delay before the next attempt; '' to follow the job's `retry`
--   random         see retryDelayMs
--   status         new status of the job
--   runMs          duration of the attempt
local job, refusal, startedAt = openJob(base, space, jobId, 'startedAt')
if refusal then return refusal end
if deliveryToken ~= '' then
  local reply = replyToGivingUp(job, deliveryToken)
  if reply then return reply end
end
if job.status ~= 'running' then return { 'JOB_NOT_RUNNING', job.status } end

local status
if isRetryable == '0' then
  status = makeDead(job, nowMs, errorJson)
else
  status = failAttempt(job, nowMs, errorJson, { delayMs = tonumber(retryAfterMs), random = random })
end
return { 'OK', status, job.attempt, job.space, nowMs - (startedAt or nowMs), job.name }
