-- ARGV jobId deliveryToken result mayDiffer
-- REPLY OK attempt:number space runMs:number name
-- REPLY UNCHANGED
-- ERRORS JOB_NOT_RUNNING DELIVERY_LOST JOB_NOT_FOUND FORBIDDEN
-- REPLICATED
--
-- Complete a running job with its result, and enqueue its callback.
--   deliveryToken  see replyToToken
--   result         JSON text
--   mayDiffer      '' if the process knows that no space of the partition overrides the retention
--   runMs          duration of the attempt
local job, refusal, startedAt = openJob(base, space, jobId, 'startedAt')
if refusal then return refusal end
if deliveryToken ~= '' and not (job.status == 'running' and deliveryToken == previousOf(job.attempt) .. '.' .. job.returns .. '.' .. job.order) then
  local reply = replyToToken(job, deliveryToken, 'completed')
  if reply then return reply end
end
if job.status ~= 'running' then return { 'JOB_NOT_RUNNING', job.status } end

moveToStatusIndex(job, 'completed')
local retentionMs = RETENTION_MS
if mayDiffer ~= '' then
  retentionMs = retentionIn(settingsText(base, job.space), 'completed')
end
startRetention(job, nowMs, retentionMs)
if job.flags ~= '-' then
  endOptions(job, nowMs, 'completed')
end
recordEvent(job, nowText, 'completed', 'completed', result, 'result', result)
if #result > 512 and has(job, 'b') then
  countBytes(job)
end
return { 'OK', job.attempt, job.space, nowMs - (startedAt or nowMs), job.name }
