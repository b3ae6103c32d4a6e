-- KEYS base
-- ARGV jobId space
-- REPLY OK
-- ERRORS JOB_NOT_ENDED NO_CALLBACK JOB_NOT_FOUND FORBIDDEN
--
-- Enqueue the callback of an ended job again, due now, in a new series with all retries available. An attempt in flight is still
-- recorded, as the last one of the previous series. An attempt with an expired lease counts as lost: if its outcome still
-- arrives, it must not settle the new series.
local job, refusal = openJob(base, space, jobId)
if refusal then return refusal end
if job.status ~= 'completed' and job.status ~= 'dead' and job.status ~= 'killed' then return { 'JOB_NOT_ENDED', job.status } end
local v = redis.call('HMGET', job.key, 'callbackAttempts', 'callbackLeasedUntil')
if not wantsCallback(job, job.status) then return { 'NO_CALLBACK', job.status } end

local nowMs, nowText = now()
local isBeingMade = tonumber(v[2] or 0) > nowMs
local series = tonumber(v[1] or 0) + (isBeingMade and 1 or 0)
redis.call('HSET', job.key, 'callbackRound', formatInteger(series), 'callbackDueAt', nowText)
if not isBeingMade then redis.call('HDEL', job.key, 'callbackLeasedUntil') end
enqueueCallback(job, nowMs)
return { 'OK' }
