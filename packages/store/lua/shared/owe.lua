-- Enqueue a callback, so that some scheduler sends it from now on. This happens in the step that ends the job, so that
-- no crash can come between. The message wakes the schedulers; their tick finds what they missed.
local function owe(job, now)
  redis.call('ZADD', job.base .. 'callbacks', digits(now), job.id)
  redis.call('PUBLISH', job.base .. 'owed', '1')
end
