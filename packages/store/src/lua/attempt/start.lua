-- Start an attempt of an acked job: open the execution window and reset the count of delivery timeouts. The caller records the
-- event.
local function startAttempt(job, nowMs)
  moveToStatusIndex(job, 'running')
  job.attempt = nextOf(job.attempt)
  local runBy = nil
  if job.flags ~= '-' then
    runBy = startOptions(job, nowMs)
  end
  openWindow(job, nowMs, executionMs(job), runBy)
end

-- Apply the options of a job whose attempt starts. Return when the attempt must end, epoch ms; nil for no limit.
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

-- Remove the start limit of a job. A retry or a release must not restart it.
local function leaveDue(job)
  if not option(job, 's', 'startBy') then return end
  leave(job.base .. 'due', job.id)
  redis.call('HSET', job.key, 'startBy', '0')
end

-- Free the unique key of a job if it lasts until the first ack.
local function freeStarted(job)
  local unique = option(job, 'u', 'unique')
  if not string.find(unique, '^started ') then return end
  freeUnique(job, unique)
  redis.call('HSET', job.key, 'uniqueFreed', '1') -- A retry must not take the key back.
end
