-- Where the callback of a job stands; nil when none is owed, or when it is another round's by now.
--   attempts    POSTs made so far, whose outcome is known
--   round       `attempts` at the time its retries were begun anew: 0, until somebody asks for a redelivery
--   wait        milliseconds until the next attempt may begin: it is not due yet, or one is being made
local function loadCallback(job, round, now)
  if not redis.call('ZSCORE', job.base .. 'callbacks', job.id) then return nil end
  local v = redis.call('HMGET', job.key, 'callbackAttempts', 'callbackRound', 'callbackDueAt', 'callbackLeasedUntil')
  for i = 1, 4 do v[i] = tonumber(stored(v[i]) or 0) end
  if v[2] ~= tonumber(round) then return nil end
  return { attempts = v[1], wait = math.max(v[3], v[4], now) - now }
end

-- Put off the relay's next look at a debt. A full Redis lets the rest of a script pass once something was removed.
local function putOff(job, at)
  redis.call('ZREM', job.base .. 'callbacks', job.id)
  redis.call('ZADD', job.base .. 'callbacks', digits(at), job.id)
end
