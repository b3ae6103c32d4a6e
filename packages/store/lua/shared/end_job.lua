-- Start the retention of a job that has just ended: its deadline now means the purge. 0 keeps it for ever.
local function retain(job, now, retentionMs)
  if tonumber(retentionMs) > 0 then
    redis.call('ZADD', job.base .. 'deadlines', digits(now + tonumber(retentionMs)), job.id)
  else
    redis.call('ZREM', job.base .. 'deadlines', job.id)
  end
end

-- Owe the callback, in the step that ends the job, so that no crash can come between.
local function oweCallback(job, now)
  if redis.call('HEXISTS', job.key, 'callbackUrl') == 1 then
    redis.call('ZADD', job.base .. 'callbacks', digits(now), job.id)
  end
end
