-- Owe a callback: from now on it is some scheduler's to send. The news wakes them; their tick finds what they missed.
local function owe(job, now)
  redis.call('ZADD', job.base .. 'callbacks', digits(now), job.id)
  redis.call('PUBLISH', job.base .. 'owed', '1')
end

-- The same for a job that has just ended, in the step that ends it, so that no crash can come between.
local function oweCallback(job, now)
  if redis.call('HEXISTS', job.key, 'callbackUrl') == 1 then owe(job, now) end
end
