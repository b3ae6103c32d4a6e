-- ARGV jobId deliveryToken reason delay
-- REPLY OK before:Status after:Status attempt:number space name
-- REPLY UNCHANGED
-- ERRORS JOB_NOT_RUNNING JOB_KILLED DELIVERY_LOST JOB_NOT_FOUND FORBIDDEN
-- REPLICATED
--
-- Return a delivered or running job to its place in the queue, or schedule it, as if it had not been delivered: an attempt that
-- has started does not count. A delivered job whose start limit has passed is dead.
--   deliveryToken  see replyToGivingUp
--   reason         JSON text: a string or null
--   delay          see timeOf
--   before, after  previous and new status of the job
--   attempt        number of the attempt that was given up, or that would have started
local job, refusal = openJob(base, space, jobId)
if refusal then return refusal end
if deliveryToken ~= '' then
  local reply = replyToGivingUp(job, deliveryToken)
  if reply then return reply end
end
if job.status == 'killed' then return { 'JOB_KILLED', 'killed' } end
if job.status ~= 'delivered' and job.status ~= 'running' then return { 'JOB_NOT_RUNNING', job.status } end

local attempt = job.status == 'delivered' and nextOf(job.attempt) or job.attempt
if job.status == 'delivered' and isStartOver(job, nowMs) then
  failStart(job, nowMs)
  return { 'OK', job.status, 'dead', attempt, job.space, job.name }
end
job.attempt, job.returns = previousOf(attempt), nextOf(job.returns)
local scheduledFor = timeOf(delay, nowMs)
local status = returnToWaiting(job, nowMs, scheduledFor, job.order)
recordWaiting(job, nowText, 'released', status, '{"reason":' .. reason .. scheduledData(scheduledFor))
return { 'OK', job.status, status, attempt, job.space, job.name }
