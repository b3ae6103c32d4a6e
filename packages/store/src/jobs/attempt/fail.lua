-- KEYS jobKey
-- ARGV base jobId keySpaceId deliveryToken errorJson eventsPerJob retentionMs
-- REPLY OK status:Status attempt:number
-- REPLY UNCHANGED
-- ERRORS JOB_NOT_RUNNING DELIVERY_LOST JOB_NOT_FOUND FORBIDDEN
--
-- End the attempt of a running job: pending again while retries remain, else dead.
--   deliveryToken  see replyToGivingUp
--   errorJson      JSON text of the worker's error
--   status         of the job now
local job = loadJob(jobKey, base, jobId)
local refusal = refusalFor(job.status, job.space, keySpaceId)
if refusal then return { refusal } end
if deliveryToken ~= '' then
  local reply = replyToGivingUp(job, deliveryToken)
  if reply then return reply end
end
if job.status ~= 'running' then return { 'JOB_NOT_RUNNING', job.status } end

return { 'OK', failAttempt(job, now(), errorJson, eventsPerJob, retentionMs), job.attempt }
