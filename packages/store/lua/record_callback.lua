-- KEYS job
-- ARGV base jobId round lease eventType data retryMs againMs eventsPerJob
--
-- Record the outcome of an attempt at a callback once, if the caller still has its lease. The callback is then settled,
-- or due again.
--   round, lease    the round given to begin_callback, and the lease that it returned
--   eventType       callback_sent or callback_failed
--   data            JSON text
--   retryMs         until the next attempt; '' when this was the last
--   againMs         after that, the relay looks whether the attempt was forgotten
-- Returns {'OK'}; {'NOT_OWED'} when it is recorded already, somebody else took the attempt over, or the job is gone.
-- @include clock job implied publish record callback owe
local found = loadJob(job, base, jobId)
local callback = loadCallback(found)
if not callback or digits(callback.leasedUntil) ~= lease then return { 'NOT_OWED' } end

-- The job has ended: neither its status nor its updatedAt, the time it ended, may change any more.
local now, at = nowMs()
if callback.round ~= tonumber(round) then
  putOff(found, now) -- A redelivery was asked for in the meantime: this outcome is not its own.
  owe(found, now)
elseif retryMs == '' then
  redis.call('ZREM', base .. 'callbacks', jobId)
  redis.call('HDEL', job, 'callbackDueAt')
else
  local due = now + tonumber(retryMs)
  putOff(found, due + tonumber(againMs))
  redis.call('HSET', job, 'callbackDueAt', digits(due))
end
redis.call('HSET', job, 'callbackAttempts', digits(callback.attempts + 1))
redis.call('HDEL', job, 'callbackLeasedUntil')
local seq = append(found, at, eventType, data, eventsPerJob)
publish(found, seq, eventType, found.status, at, data)
return { 'OK' }
