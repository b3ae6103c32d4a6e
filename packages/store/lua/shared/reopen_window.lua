-- How long the window of a delivered or running job is, in milliseconds.
local function windowOf(job, deliveryTimeoutMs)
  if job.status == 'delivered' then return tonumber(deliveryTimeoutMs) end
  return math.ceil(tonumber(job.timeoutSeconds) * 1000)
end

-- Give a delivered or running job another window, from now on. Begins with a ZREM: a full Redis lets the rest pass.
local function reopenWindow(job, now, windowMs)
  redis.call('ZREM', job.base .. 'deadlines', job.id)
  redis.call('ZADD', job.base .. 'deadlines', digits(now + windowMs), job.id)
end
