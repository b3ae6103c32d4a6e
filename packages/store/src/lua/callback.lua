-- Enqueue a callback, so that some scheduler sends it from now on. The script that ends the job does this, so that no
-- crash can happen in between. The message wakes the schedulers; their tick finds missed callbacks.
local function enqueueCallback(job, nowMs)
  enter(job.base .. 'callbacks', formatInteger(nowMs), job.id)
  redis.call('PUBLISH', job.base .. 'pending', '1')
end

-- Check whether a job has a callback that follows this end.
local function wantsCallback(job, status)
  if not has(job, 'c') then return false end
  return string.find(redis.call('HGET', job.key, 'callbackOn') or DEFAULT_CALLBACK_ON, status, 1, true) ~= nil
end

-- Read the state of the callback of a job; nil when none is pending.
--   attempts       POSTs made so far, whose outcome is known
--   series         stored as `callbackRound`: `attempts` when its current series of retries began: 0, until a client
--                  requests a redelivery
--   due            when the next attempt may begin, epoch ms
--   leasedUntil    an attempt is being made, and counts as lost from then on; 0 for none
local function loadCallback(job)
  local hasEnded = job.status == 'completed' or job.status == 'dead' or job.status == 'killed'
  if not hasEnded or not redis.call('ZSCORE', written(job.base .. 'callbacks'), job.id) then return nil end
  local v = redis.call('HMGET', job.key, 'callbackAttempts', 'callbackRound', 'callbackDueAt', 'callbackLeasedUntil')
  for i = 1, 4 do v[i] = tonumber(v[i] or 0) end
  return { attempts = v[1], series = v[2], due = v[3], leasedUntil = v[4] }
end

-- Postpone the relay's next check of a pending callback.
local function postpone(job, at)
  replaceEntry(job.base .. 'callbacks', job.id, formatInteger(at))
end
