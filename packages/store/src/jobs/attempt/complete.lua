-- KEYS jobKey
-- ARGV base jobId keySpaceId deliveryToken result eventsPerJob retentionMs mayDiffer
-- REPLY OK attempt:number space runMs:number name
-- REPLY UNCHANGED
-- ERRORS JOB_NOT_RUNNING DELIVERY_LOST JOB_NOT_FOUND FORBIDDEN
--
-- End a running job with its result, and enqueue its callback.
--   deliveryToken  see replyToToken
--   result         JSON text
--   mayDiffer      '' when no space of the partition has a retention of its own, as far as the process knows
--   runMs          how long the attempt has run
local job, startedAt = loadJob(jobKey, base, jobId, 'startedAt')
local refusal = refusalFor(job.status, job.space, keySpaceId)
if refusal then return { refusal } end
if deliveryToken ~= '' then
  local reply = replyToToken(job, deliveryToken, 'completed')
  if reply then return reply end
end
if job.status ~= 'running' then return { 'JOB_NOT_RUNNING', job.status } end

local nowMs, nowText = now()
moveToStatusIndex(job, 'completed')
if has(job, 'u') then
  freeUnique(job, option(job, 'u', 'unique'), 'expired')
end
local settings = mayDiffer ~= '' and settingsText(base, job.space)
if settings then
  retentionMs = retentionIn(settings, 'completed', retentionMs)
end
startRetention(job, nowMs, retentionMs)
if has(job, 'c') then
  if wantsCallback(job, 'completed') then enqueueCallback(job, nowMs) end
end
recordEvent(job, nowText, 'completed', 'completed', result, eventsPerJob, 'result', result)
return { 'OK', job.attempt, job.space, nowMs - (startedAt or nowMs), job.name }
