-- KEYS jobKey
-- ARGV base jobId keySpaceId deliveryToken reason eventsPerJob
-- REPLY OK before:Status attempt:number
-- REPLY UNCHANGED
-- ERRORS JOB_NOT_RUNNING JOB_KILLED DELIVERY_LOST JOB_NOT_FOUND FORBIDDEN
--
-- Return a delivered or running job to its place in the queue by creation, as if the delivery had not happened: an
-- attempt that has started is not counted.
--   deliveryToken  see replyToGivingUp
--   reason         JSON text, a string or null
--   before         status that the job had
--   attempt        number of the attempt that was given up, or would have started
local job, takeBacks = loadJob(jobKey, base, jobId, 'takeBacks')
local refusal = refusalFor(job.status, job.space, keySpaceId)
if refusal then return { refusal } end
if deliveryToken ~= '' then
  local reply = replyToGivingUp(job, deliveryToken)
  if reply then return reply end
end
if job.status == 'killed' then return { 'JOB_KILLED', 'killed' } end
if job.status ~= 'delivered' and job.status ~= 'running' then return { 'JOB_NOT_RUNNING', job.status } end

local nowMs, nowText = now()
local attempts = tonumber(job.attempt) - (job.status == 'running' and 1 or 0)
returnToQueue(job, nowMs, job.order)
recordReturn(job, nowText, 'released', '{"reason":' .. reason .. '}', eventsPerJob,
  'attempt', formatInteger(attempts), 'takeBacks', nextTakeBacks(takeBacks))
return { 'OK', job.status, formatInteger(attempts + 1) }
