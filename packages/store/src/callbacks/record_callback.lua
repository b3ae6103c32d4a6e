-- KEYS job
-- ARGV base jobId series lease eventType data retryMs againMs eventsPerJob
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
local found = loadJob(job, base, jobId)
local callback = loadCallback(found)
if not callback or digits(callback.leasedUntil) ~= lease then return { 'NOT_PENDING' } end

-- The job has ended: neither its status nor its updatedAt, the time it ended, must change any more.
local nowMs, at = now()
if callback.series ~= tonumber(series) then
  postpone(found, nowMs) -- A client requested a redelivery in the meantime: this outcome is not its own.
  enqueueCallback(found, nowMs)
elseif retryMs == '' then
  redis.call('ZREM', base .. 'callbacks', jobId)
  redis.call('HDEL', job, 'callbackDueAt')
else
  local due = nowMs + tonumber(retryMs)
  postpone(found, due + tonumber(againMs))
  redis.call('HSET', job, 'callbackDueAt', digits(due))
end
redis.call('HSET', job, 'callbackAttempts', digits(callback.attempts + 1))
redis.call('HDEL', job, 'callbackLeasedUntil')
local seq = append(found, at, eventType, data, eventsPerJob)
publish(found, seq, eventType, found.status, at, data)
return { 'OK' }
