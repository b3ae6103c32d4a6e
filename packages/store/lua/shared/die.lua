-- Make a job dead, with its callback. `failure` is JSON text; further fields of the record may follow (name, value, …).
-- Begins with the ZREM of moveStatus.
local function die(job, now, failure, eventsPerJob, retentionMs, ...)
  moveStatus(job, 'dead')
  retain(job, now, retentionMs)
  if redis.call('HEXISTS', job.key, 'callbackUrl') == 1 then owe(job, now) end
  record(job, digits(now), 'dead', 'dead', '{"error":' .. failure .. '}', eventsPerJob, 'error', failure, ...)
end
