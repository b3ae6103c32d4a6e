-- Enqueue the callback of a job for the schedulers. The script that ends the job does this, so that no crash can separate the
-- two. The message wakes the schedulers; if it is lost, their next tick finds the callback.
local function enqueueCallback(job, nowMs)
  enter(job.base .. 'callbacks', formatInteger(nowMs), job.id)
  redis.call('PUBLISH', job.base .. 'pending', '1')
end

-- Check whether a job has a callback for this final status.
local function wantsCallback(job, status)
  if not has(job, 'c') then return false end
  return string.find(redis.call('HGET', job.key, 'callbackOn') or DEFAULT_CALLBACK_ON, status, 1, true) ~= nil
end

-- Read the state of a job's callback; nil when no callback is pending.
--   attempts       number of attempts with a known outcome
--   series         value of `attempts` when the current series began, stored as `callbackRound`; 0 until a client requests a
--                  redelivery
--   due            when the next attempt can begin, epoch ms
--   leasedUntil    when the attempt in flight counts as lost, epoch ms; 0 for none in flight
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
