-- ARGV jobId deliveryToken errorJson isRetryable retryAfterMs random
-- REPLY OK status:Status attempt:number space runMs:number name
-- REPLY UNCHANGED
-- ERRORS JOB_NOT_RUNNING DELIVERY_LOST JOB_NOT_FOUND FORBIDDEN
-- REPLICATED
--
-- End the attempt of a running job: pending or scheduled again while retries remain, else dead.
--   deliveryToken  see replyToGivingUp
--   errorJson      JSON text of the worker's error
--   isRetryable    '0' makes the job dead at once
--   retryAfterMs   until the next attempt; '' for what the job's `retry` says
--   random         see retryDelayMs
--   status         of the job now
--   runMs          how long the attempt has run
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
