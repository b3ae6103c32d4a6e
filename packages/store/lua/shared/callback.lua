-- State of the callback of a job; nil when none is pending.
--   attempts       POSTs made so far, whose outcome is known
--   round          `attempts` when its current series of retries began: 0, until a client requests a redelivery
--   due            when the next attempt may begin, epoch ms
--   leasedUntil    an attempt is being made, and is given up by then; 0 for none
local function loadCallback(job)
  local hasEnded = job.status == 'completed' or job.status == 'dead'
  if not hasEnded or not redis.call('ZSCORE', job.base .. 'callbacks', job.id) then return nil end
  local v = redis.call('HMGET', job.key, 'callbackAttempts', 'callbackRound', 'callbackDueAt', 'callbackLeasedUntil')
  for i = 1, 4 do v[i] = tonumber(stored(v[i]) or 0) end
  return { attempts = v[1], round = v[2], due = v[3], leasedUntil = v[4] }
end

-- Postpone the relay's next look at a pending callback. A full Redis lets the rest of a script pass once something was
-- removed.
local function putOff(job, at)
  redis.call('ZREM', job.base .. 'callbacks', job.id)
  redis.call('ZADD', job.base .. 'callbacks', digits(at), job.id)
end
