-- ARGV jobId deliveryToken kind data
-- REPLY OK attempt:number
-- ERRORS JOB_KILLED JOB_NOT_RUNNING DELIVERY_LOST JOB_NOT_FOUND FORBIDDEN STORAGE_FULL
--
-- Restart the execution window of a running job, and store its worker's report. STORAGE_FULL means that the window was restarted,
-- but the report was not stored.
--   deliveryToken  see replyToToken
--   kind           progress, checkpoint, event, keepalive, or ephemeral for an event that only streams receive
--   data           JSON text; not used for keepalive
local job, refusal = openJob(base, space, jobId)
if refusal then return refusal end
if job.status == 'killed' then return { 'JOB_KILLED', 'killed' } end
if deliveryToken ~= '' and not (job.status == 'running' and deliveryToken == previousOf(job.attempt) .. '.' .. job.returns .. '.' .. job.order) then
  local refused = replyToToken(job, deliveryToken)
  if refused then return refused end
end
if job.status ~= 'running' then return { 'JOB_NOT_RUNNING', job.status } end

local isFull = kind ~= 'keepalive' and kind ~= 'ephemeral' and isMemoryFull(base)
reopenWindow(job, nowMs, executionMs(job), option(job, 'm', 'runBy')) -- even on a full Redis: a job whose worker is alive must not time out
if isFull then return { 'STORAGE_FULL' } end

if kind == 'keepalive' or kind == 'ephemeral' then
  redis.call('HSET', job.key, 'state', stateOf(job, 'running', nowText))
  if kind == 'ephemeral' and isWatched(base) then publish(job, 'null', 'event', 'running', nowText, data) end
elseif kind == 'progress' then
  recordEvent(job, nowText, kind, 'running', data, 'progress', data, 'progressAt', nowText)
elseif kind == 'checkpoint' then
  setFlag(job, 'k')
  recordEvent(job, nowText, kind, 'running', data, 'checkpoint', data)
else
  recordEvent(job, nowText, kind, 'running', data)
end
if (#data > 512 or job.isMeasured) and has(job, 'b') then
  countBytes(job)
end
return { 'OK', job.attempt }
