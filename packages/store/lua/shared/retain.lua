-- Start the retention of a job that has just ended: its deadline now means the purge. 0 keeps it for ever.
local function retain(job, now, retentionMs)
  if tonumber(retentionMs) > 0 then
    redis.call('ZADD', job.base .. 'deadlines', digits(now + tonumber(retentionMs)), job.id)
  else
    redis.call('ZREM', job.base .. 'deadlines', job.id)
  end
end
