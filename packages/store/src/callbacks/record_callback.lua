-- KEYS base
-- ARGV jobId series lease eventType data retryMs againMs
-- REPLY OK
-- REPLY NOT_PENDING
--
-- Record the outcome of an attempt at a callback, if the caller still holds the lease. The callback is then settled or due again.
-- NOT_PENDING means that the outcome is already recorded, another scheduler has taken over, or the job is gone.
--   series, lease   the series given to begin_callback, and the lease that it returned
--   eventType       callback_sent or callback_failed
--   data            JSON text
--   retryMs         delay before the next attempt; '' after the last attempt
--   againMs         how long after the next attempt is due the relay checks whether it was lost
local job = loadJob(base, jobId)
local callback = loadCallback(job)
if not callback or formatInteger(callback.leasedUntil) ~= lease then return { 'NOT_PENDING' } end

-- The job has ended: its status and its updatedAt, the time of its end, must not change anymore.
local nowMs, nowText = now()
if callback.series ~= tonumber(series) then
  postpone(job, nowMs) -- A client has requested a redelivery since; this outcome must not settle it.
  enqueueCallback(job, nowMs)
elseif retryMs == '' then
  redis.call('ZREM', base .. 'callbacks', jobId)
  redis.call('HDEL', job.key, 'callbackDueAt')
else
  local due = nowMs + tonumber(retryMs)
  postpone(job, due + tonumber(againMs))
  redis.call('HSET', job.key, 'callbackDueAt', formatInteger(due))
end
redis.call('HDEL', job.key, 'callbackLeasedUntil')
appendEvent(job, nowText, eventType, data)
redis.call('HSET', job.key, 'state', stateOf(job, job.status, job.updatedAt), 'callbackAttempts', formatInteger(callback.attempts + 1))
if #data > 512 and has(job, 'b') then
  countBytes(job)
end
if isWatched(base) then
  publish(job, job.seq, eventType, job.status, nowText, data)
end
return { 'OK' }
