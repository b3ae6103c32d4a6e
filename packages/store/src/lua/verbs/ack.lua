-- ARGV jobId deliveryToken
-- REPLY OK attempt:number
-- REPLY UNCHANGED
-- ERRORS JOB_NOT_DELIVERED JOB_NOT_RUNNING DELIVERY_LOST JOB_NOT_FOUND FORBIDDEN
--
-- Start the attempt of a delivered job: mark it as running, increment its attempt, open the execution window and reset the
-- count of delivery timeouts.
--   deliveryToken  see replyToToken
--   attempt        number of the attempt that has started
local job, refusal = openJob(base, space, jobId)
if refusal then return refusal end
if deliveryToken ~= '' and not (job.status == 'delivered' and deliveryToken == job.attempt .. '.' .. job.returns .. '.' .. job.order) then
  local reply = replyToToken(job, deliveryToken, 'running')
  if reply then return reply end
end
if job.status ~= 'delivered' then
  return { 'JOB_NOT_DELIVERED', job.status, missedWindow(job) }
end

startAttempt(job, nowMs)
recordEvent(job, nowText, 'acked', 'running', 'null', 'startedAt', nowText)
return { 'OK', job.attempt }
