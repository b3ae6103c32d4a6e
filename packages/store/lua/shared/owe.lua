-- Owe a callback: from now on it is some scheduler's to send. In the step that ends the job, so that no crash can come
-- between. The news wakes the schedulers; their tick finds what they missed.
local function owe(job, now)
  redis.call('ZADD', job.base .. 'callbacks', digits(now), job.id)
  redis.call('PUBLISH', job.base .. 'owed', '1')
end
