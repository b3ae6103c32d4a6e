-- KEYS jobKey
-- ARGV base jobId keySpaceId deliveryToken eventsPerJob
-- REPLY OK attempt:number
-- REPLY UNCHANGED
-- ERRORS JOB_NOT_DELIVERED JOB_NOT_RUNNING DELIVERY_LOST JOB_NOT_FOUND FORBIDDEN
--
-- Start the attempt of a delivered job: running, attempt + 1, execution window open, delivery time-outs counted from 0
-- again.
--   deliveryToken  see replyToToken
--   attempt        number of the attempt that has started
local job, deliveryTimeouts, unique, maxRunSeconds, startBy = loadJob(jobKey, base, jobId, 'deliveryTimeouts', 'unique', 'maxRunSeconds', 'startBy')
local refusal = refusalFor(job.status, job.space, keySpaceId)
if refusal then return { refusal } end
if deliveryToken ~= '' then
  local reply = replyToToken(job, deliveryToken, 'running')
  if reply then return reply end
end
if job.status ~= 'delivered' then
  return { 'JOB_NOT_DELIVERED', job.status, missedWindow(job) }
end

local nowMs, nowText = now()
local attempt = formatInteger(job.attempt + 1)
moveToStatusIndex(job, 'running')
local runBy = nil
if stored(maxRunSeconds) then
  runBy = startRun(job, nowMs, maxRunSeconds)
end
openWindow(job, nowMs, executionMs(job), runBy)
if stored(startBy) then
  redis.call('ZREM', base .. 'due', jobId)
  redis.call('HSET', jobKey, 'startBy', '0') -- A retry or a release must not start it again.
end
if stored(unique) and string.find(unique, '^started ') then
  freeUnique(job, unique)
  redis.call('HSET', jobKey, 'uniqueFreed', '1') -- A retry must not take the key back.
end
if stored(deliveryTimeouts) then redis.call('HDEL', jobKey, 'deliveryTimeouts') end
recordEvent(job, nowText, 'acked', 'running', 'null', eventsPerJob, 'startedAt', nowText, 'attempt', attempt)
return { 'OK', attempt }
