-- Give a job the fields of its record that are being written, name and value in turn, so that no option is read back.
local function takeFields(job, fields)
  for i = 1, #fields, 2 do job[fields[i]] = fields[i + 1] end
end

-- Store a job, at the end of its space's queues or for later. Return its order, and when a job for later is due.
-- create.lua repeats it.
--   micros   of the second, see now
--   options  the end of its state: maxRetries, timeoutSeconds and flags
--   fields   further fields of the record, name and value in turn
--   delay    see timeOf
local function addJob(job, nowMs, micros, options, fields, delay)
  local base, space, id = job.base, job.space, job.id
  -- Orders of 1/1024 ms distinguish the moments of Redis, so the last order of the space is seldom needed.
  local moment = nowMs * 1024 + math.floor(micros % 1000 * 1.024)
  local order = nextOrder(base, space, moment)
  local scheduledFor = timeOf(delay, nowMs)
  local status = scheduledFor and 'scheduled' or 'pending'
  local state = status .. ' ' .. order .. ' 0 0 1 0 ' .. options
  redis.call('HSET', job.key, 'state', state, 'space', space, 'name', job.name, unpack(fields))
  redis.call('ZADD', base .. 'space:' .. space .. '/jobs', order, id)
  redis.call('ZADD', base .. 'space:' .. space .. '/status/' .. status, order, id)
  redis.call('ZINCRBY', base .. 'space:' .. space .. '/names', '1', job.name) -- as text, because printing a number takes time
  job.status, job.order, job.attempt, job.flags = status, order, '0', string.match(options, '%S+$')
  takeFields(job, fields)
  enterTags(job)
  enterWaiting(job, nowMs, scheduledFor, order)
  publishCreation(job, status, order)
  return order, scheduledFor
end

-- Replace the request of a job that waits, and return its status. It keeps its place in the queue, unless it becomes
-- claimable only now. The first write tests whether memory is full, before anything is removed. The checkpoint goes too,
-- because it belongs to the payload.
--   options, delay   see addJob
--   fields   of the record that are not at their defaults, name and value in turn
local function replaceJob(job, nowMs, eventsPerJob, options, fields, delay)
  local at, scheduledFor = formatInteger(nowMs), timeOf(delay, nowMs)
  redis.call('HSET', job.key, 'state', job.state)
  -- The queue of its name has it even while the name is paused.
  local score = redis.call('ZSCORE', job.base .. 'space:' .. job.space .. '/queue/' .. job.name, job.id)
  local order = score and claimOrder(score, option(job, 'p', 'priority')) or nil
  leaveWaiting(job)
  leaveTags(job)
  redis.call('HDEL', job.key, 'payload', 'callbackUrl', 'callbackHeaders', 'callbackOn', 'checkpoint',
    'scheduledFor', 'retry', 'maxRunSeconds', 'runBy', 'startWithinSeconds', 'startBy', 'priority', 'tags')
  local old = job.flags
  job.maxRetries, job.timeoutSeconds, job.flags = string.match(options, '^(%S+) (%S+) (%S+)$')
  for kept in string.gmatch(old, '[dh]') do setFlag(job, kept) end
  for _, field in ipairs({ 'startWithinSeconds', 'startBy', 'priority', 'tags' }) do job[field] = false end
  takeFields(job, fields)
  enterTags(job)
  local status = returnToWaiting(job, nowMs, scheduledFor, order)
  local data = scheduledFor and '{"scheduledFor":' .. isoText(scheduledFor) .. '}' or 'null'
  recordEvent(job, at, 'replaced', status, data, eventsPerJob, unpack(fields))
  return status
end
