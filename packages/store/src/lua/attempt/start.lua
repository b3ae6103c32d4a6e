-- Start an attempt of a job that its worker has acked: execution window open, delivery timeouts counted from 0 again. The
-- caller records it, with `attempt` one higher. The last four are fields of the record; `timeouts` are deliveryTimeouts.
local function startAttempt(job, nowMs, unique, maxRunSeconds, startBy, timeouts)
  moveToStatusIndex(job, 'running')
  local runBy = nil
  if stored(maxRunSeconds) then
    runBy = startRun(job, nowMs, maxRunSeconds)
  end
  openWindow(job, nowMs, executionMs(job), runBy)
  if stored(startBy) then
    redis.call('ZREM', job.base .. 'due', job.id)
    redis.call('HSET', job.key, 'startBy', '0') -- A retry or a release must not start it again.
  end
  if stored(unique) and string.find(unique, '^started ') then
    freeUnique(job, unique)
    redis.call('HSET', job.key, 'uniqueFreed', '1') -- A retry must not take the key back.
  end
  if stored(timeouts) then redis.call('HDEL', job.key, 'deliveryTimeouts') end
end
