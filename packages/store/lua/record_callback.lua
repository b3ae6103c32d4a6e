-- KEYS job
-- ARGV base jobId attempt eventType data retryMs againMs eventsPerJob
--
-- Record the outcome of an attempt at a callback, once: it is settled, or due again.
--   attempt    as begin_callback gave it
--   eventType  callback_sent or callback_failed
--   data       JSON text
--   retryMs    until the next attempt; '' when this was the last
--   againMs    after that, the relay looks whether the attempt was forgotten
-- Returns {'OK'}; {'NOT_OWED'} when it is recorded already, or the job is gone.
-- @include clock job publish record callback
local found = loadJob(job, base, jobId)
local now = nowMs()
local round = redis.call('HGET', job, 'callbackRound')
local callback = found.status and loadCallback(found, stored(round) or 0, now)
if not callback or callback.attempts ~= tonumber(attempt) - 1 then return { 'NOT_OWED' } end

-- The job has ended: neither its status nor its updatedAt, the time it ended, may change any more.
if retryMs == '' then
  redis.call('ZREM', base .. 'callbacks', jobId)
  redis.call('HDEL', job, 'callbackDueAt')
else
  local due = now + tonumber(retryMs)
  putOff(found, due + tonumber(againMs))
  redis.call('HSET', job, 'callbackDueAt', digits(due))
end
redis.call('HSET', job, 'callbackAttempts', attempt)
redis.call('HDEL', job, 'callbackLeasedUntil')
append(found, now, eventType, found.status, data, eventsPerJob)
return { 'OK' }
