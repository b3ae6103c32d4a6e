-- KEYS jobKey
-- ARGV base jobId keySpaceId deliveryToken errorJson isRetryable retryAfterMs random eventsPerJob retentionMs
-- REPLY OK status:Status attempt:number space runMs:number name
-- REPLY UNCHANGED
-- ERRORS JOB_NOT_RUNNING DELIVERY_LOST JOB_NOT_FOUND FORBIDDEN
--
-- End the attempt of a running job: pending or scheduled again while retries remain, else dead.
--   deliveryToken  see replyToGivingUp
--   errorJson      JSON text of the worker's error
--   isRetryable    '0' makes the job dead at once
--   retryAfterMs   until the next attempt; '' for what the job's `retry` says
--   random         see retryDelayMs
--   status         of the job now
--   runMs          how long the attempt has run
local job, retry, priority, startedAt, takeBacks, timeouts =
  loadJob(jobKey, base, jobId, 'retry', 'priority', 'startedAt', tokenFields(deliveryToken))
local refusal = refusalFor(job.status, job.space, keySpaceId)
if refusal then return { refusal } end
if deliveryToken ~= '' then
  local reply = replyToGivingUp(job, deliveryToken, takeBacks, timeouts)
  if reply then return reply end
end
if job.status ~= 'running' then return { 'JOB_NOT_RUNNING', job.status } end

local nowMs, status = now(), nil
if isRetryable == '0' then
  status = makeDead(job, nowMs, errorJson, eventsPerJob, retentionMs)
else
  local again = { retry = retry, priority = priority, delayMs = tonumber(retryAfterMs), random = random }
  status = failAttempt(job, nowMs, errorJson, eventsPerJob, retentionMs, again)
end
return { 'OK', status, job.attempt, job.space, nowMs - (stored(startedAt) or nowMs), job.name }
