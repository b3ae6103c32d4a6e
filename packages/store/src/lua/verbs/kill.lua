-- ARGV jobId reason
-- REPLY OK before:Status space name
-- ERRORS JOB_ENDED JOB_NOT_FOUND FORBIDDEN
-- REPLICATED
--
-- Kill a job that has not ended. A killed job stays unchanged. A callback is enqueued only if the producer requested it for this
-- status.
--   reason    JSON text: a string or null
--   before    previous status of the job
local job, refusal = openJob(base, space, jobId)
if refusal then return refusal end
if job.status == 'killed' then return { 'OK', 'killed', job.space, job.name } end
if job.status == 'completed' or job.status == 'dead' then return { 'JOB_ENDED', job.status } end

if job.status ~= 'running' then
  leaveWaiting(job)
end
moveToStatusIndex(job, 'killed')
startRetention(job, nowMs, retentionIn(settingsText(base, job.space), 'killed'))
if job.flags ~= '-' then
  if wantsCallback(job, 'killed') then redis.call('HSET', job.key, 'killReason', reason) end
  endOptions(job, nowMs, 'killed')
end
recordEvent(job, nowText, 'killed', 'killed', '{"reason":' .. reason .. '}')
return { 'OK', job.status, job.space, job.name }
