-- KEYS base
-- ARGV jobId series lease eventType data retryMs againMs
-- REPLY OK
-- REPLY NOT_PENDING
--
-- Record the outcome of an attempt at a callback once, if the caller still has its lease. The callback is then settled,
-- or due again.
--   series, lease   the series given to begin_callback, and the lease that it returned
--   eventType       callback_sent or callback_failed
--   data            JSON text
--   retryMs         until the next attempt; '' when this was the last
--   againMs         after that, the relay checks whether the attempt was lost
-- NOT_PENDING when it is recorded already, another scheduler took the attempt over, or the job is gone.
local job = loadJob(base, jobId)
local callback = loadCallback(job)
if not callback or formatInteger(callback.leasedUntil) ~= lease then return { 'NOT_PENDING' } end

-- The job has ended: neither its status nor its updatedAt, the time it ended, must change any more.
local nowMs, nowText = now()
if callback.series ~= tonumber(series) then
  postpone(job, nowMs) -- A client requested a redelivery in the meantime: this outcome is not its own.
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
