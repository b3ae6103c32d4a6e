-- Increment the number of jobs with a name.
local function countName(names, name)
  if not batch then
    redis.call('ZINCRBY', names, '1', name) -- as text, because formatting a number takes time
  elseif batch.name == name and batch.names == names then
    batch.count = batch.count + 1
  else
    storeCount()
    batch.names, batch.name, batch.count = names, name, 1
  end
end

-- Copy the fields about to be written (name, value, …) to a job, so that no option is read back.
local function takeFields(job, fields)
  for i = 1, #fields, 2 do job[fields[i]] = fields[i + 1] end
end

-- Replace the request of a waiting job, and return its status. The job keeps its place in the queue if it has one. The first
-- write detects a full Redis before anything is removed. The checkpoint is removed, because it belongs to the payload.
--   options, delay   see verbs/create.lua
--   fields           fields of the record that are not at their defaults (name, value, …)
local function replaceJob(job, nowMs, options, fields, delay)
  local at, scheduledFor = formatInteger(nowMs), timeOf(delay, nowMs)
  redis.call('HSET', job.key, 'state', job.state)
  -- The queue of its name contains the job even while the name is paused.
  local score = redis.call('ZSCORE', written(job.base .. 'space:' .. job.space .. '/queue/' .. job.name), job.id)
  local order = score and claimOrder(score, option(job, 'p', 'priority')) or nil
  leaveWaiting(job)
  leaveTags(job)
  redis.call('HDEL', job.key, 'payload', 'callbackUrl', 'callbackHeaders', 'callbackOn', 'checkpoint',
    'scheduledFor', 'retry', 'maxRunSeconds', 'runBy', 'startWithinSeconds', 'startBy', 'priority', 'tags')
  local old = job.flags
  job.maxRetries, job.timeoutSeconds, job.flags = string.match(options, '^(%S+) (%S+) (%S+)$')
  for kept in string.gmatch(old, '[bdh]') do setFlag(job, kept) end
  for _, field in ipairs({ 'startWithinSeconds', 'startBy', 'priority', 'tags' }) do job[field] = false end
  takeFields(job, fields)
  enterTags(job)
  local status = returnToWaiting(job, nowMs, scheduledFor, order)
  local data = scheduledFor and '{"scheduledFor":' .. isoText(scheduledFor) .. '}' or 'null'
  recordEvent(job, at, 'replaced', status, data, unpack(fields))
  if has(job, 'b') then
    countBytes(job)
  end
  return status
end
