-- Start the retention of a job that has just ended: its deadline is now that of the purge. A job kept forever gets the field
-- `kept` instead, because the settings may change.
--   ms   see retentionIn; 0 to keep the job forever
local function startRetention(job, nowMs, ms)
  if ms > 0 then
    enter(job.base .. 'deadlines', formatInteger(nowMs + ms), job.id)
  else
    leave(job.base .. 'deadlines', job.id)
    redis.call('HSET', job.key, 'kept', '1')
  end
end

-- Remove an ended job with all of its data. A job whose callback is still pending is kept for another minute, because the
-- callback needs its record. Return whether the job was removed.
local function purge(job, nowMs)
  local deadlines = job.base .. 'deadlines'
  if redis.call('ZSCORE', written(job.base .. 'callbacks'), job.id) then
    replaceEntry(deadlines, job.id, formatInteger(nowMs + 60000))
    return false
  end
  local space = job.base .. 'space:' .. job.space
  leave(deadlines, job.id)
  leave(space .. '/jobs', job.id)
  leave(space .. '/status/' .. job.status, job.id)
  if batch then
    storeCount()
  end
  if tonumber(redis.call('ZINCRBY', space .. '/names', -1, job.name)) <= 0 then redis.call('ZREM', space .. '/names', job.name) end
  if job.flags ~= '-' and job.flags ~= '-h' then -- most jobs have no other flag
    if has(job, 'u') then freeUnique(job, option(job, 'u', 'unique')) end
    leaveTags(job)
    if has(job, 'b') then uncountBytes(job) end
  end
  redis.call('UNLINK', job.key, job.key .. ':events', job.key .. ':logs')
  if redis.call('ZCARD', written(space .. '/jobs')) == 0 then
    redis.call('ZREM', job.base .. 'spaces', job.space)
    forgetHistory(space .. '/history/')
    if batch and batch.space == job.space then batch.isOrderNew = false end
  end
  return true
end
