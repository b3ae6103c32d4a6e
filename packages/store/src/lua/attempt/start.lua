-- Start an attempt of a job that its worker has acked: execution window open, delivery timeouts counted from 0 again. The
-- caller records it.
local function startAttempt(job, nowMs)
  moveToStatusIndex(job, 'running')
  job.attempt = nextOf(job.attempt)
  local runBy = nil
  if job.flags ~= '-' then
    runBy = startOptions(job, nowMs)
  end
  openWindow(job, nowMs, executionMs(job), runBy)
end

-- Do what the options of a job ask for when an attempt starts. Return when the attempt must end; nil for no limit.
local function startOptions(job, nowMs)
  local runBy = has(job, 'm') and startRun(job, nowMs, option(job, 'm', 'maxRunSeconds')) or nil
  if has(job, 's') then leaveDue(job) end
  if has(job, 'u') then freeStarted(job) end
  if has(job, 'd') then
    redis.call('HDEL', job.key, 'deliveryTimeouts')
    clearFlags(job, 'd')
  end
  return runBy
end

-- End the time limit for the start of a job, which a retry or a release must not start again.
local function leaveDue(job)
  if not option(job, 's', 'startBy') then return end
  leave(job.base .. 'due', job.id)
  redis.call('HSET', job.key, 'startBy', '0')
end

-- Free a unique key that lasts until the first ack.
local function freeStarted(job)
  local unique = option(job, 'u', 'unique')
  if not string.find(unique, '^started ') then return end
  freeUnique(job, unique)
  redis.call('HSET', job.key, 'uniqueFreed', '1') -- A retry must not take the key back.
end
