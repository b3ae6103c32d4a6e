-- Remove an ended job with everything it has. A job whose callback is still pending stays, because the callback needs
-- its record.
local function purge(job, now)
  if redis.call('ZSCORE', job.base .. 'callbacks', job.id) then
    -- Look again in a minute. A full Redis lets the ZADD pass once something was removed.
    redis.call('ZREM', job.base .. 'deadlines', job.id)
    redis.call('ZADD', job.base .. 'deadlines', digits(now + 60000), job.id)
    return false
  end
  local space = job.base .. 'space:' .. job.space
  redis.call('ZREM', job.base .. 'deadlines', job.id)
  redis.call('ZREM', space .. '/jobs', job.id)
  redis.call('ZREM', space .. '/status/' .. job.status, job.id)
  if tonumber(redis.call('ZINCRBY', space .. '/names', -1, job.name)) <= 0 then redis.call('ZREM', space .. '/names', job.name) end
  redis.call('UNLINK', job.key, job.key .. ':events', job.key .. ':logs')
  if redis.call('ZCARD', space .. '/jobs') == 0 then redis.call('ZREM', job.base .. 'spaces', job.space) end
  return true
end
