-- Store a job, at the end of its space's queues or for later. Return its order, and when a job for later is due.
-- create.lua repeats it.
--   micros   of the second, see now
--   fields   further fields of the record, name and value in turn
--   waits    its delay, see timeOf, and its options, see enterWaiting
--   tags     that field, which is in `fields` too; nil or '' without one
local function addJob(job, nowMs, micros, fields, waits, tags)
  local base, space, id = job.base, job.space, job.id
  -- Orders of 1/1024 ms distinguish the moments of Redis, so the last order of the space is seldom needed.
  local moment = nowMs * 1024 + math.floor(micros % 1000 * 1.024)
  local order = nextOrder(base, space, moment)
  local scheduledFor = timeOf(waits.delay, nowMs)
  local status = scheduledFor and 'scheduled' or 'pending'
  redis.call('HSET', job.key, 'status', status, 'space', space, 'name', job.name, 'order', order, unpack(fields))
  redis.call('ZADD', base .. 'space:' .. space .. '/jobs', order, id)
  redis.call('ZADD', base .. 'space:' .. space .. '/status/' .. status, order, id)
  redis.call('ZINCRBY', base .. 'space:' .. space .. '/names', '1', job.name) -- as text, because printing a number takes time
  job.order, job.tags = order, tags
  enterTags(job)
  enterWaiting(job, nowMs, scheduledFor, order, waits.options)
  publishCreation(job, status, order)
  return order, scheduledFor
end

-- Replace the request of a job that waits, and return its status. It keeps its place in the queue, unless it becomes
-- claimable only now. The first write tests whether memory is full, before anything is removed. The checkpoint goes too,
-- because it belongs to the payload.
--   fields   of the record that are not at their defaults, name and value in turn
--   waits, tags   see addJob
local function replaceJob(job, nowMs, eventsPerJob, fields, waits, tags)
  local at, scheduledFor = formatInteger(nowMs), timeOf(waits.delay, nowMs)
  redis.call('HSET', job.key, 'updatedAt', at)
  local v = redis.call('HMGET', job.key, 'priority', 'startBy')
  -- The queue of its name has it even while the name is paused.
  local score = stored(redis.call('ZSCORE', job.base .. 'space:' .. job.space .. '/queue/' .. job.name, job.id))
  local order = score and claimOrder(score, v[1])
  leaveWaiting(job, v[2])
  leaveTags(job)
  redis.call('HDEL', job.key, 'payload', 'maxRetries', 'timeoutSeconds', 'callbackUrl', 'callbackHeaders', 'callbackOn', 'checkpoint',
    'scheduledFor', 'retry', 'maxRunSeconds', 'runBy', 'startWithinSeconds', 'startBy', 'priority', 'tags')
  job.tags = tags
  enterTags(job)
  local status = returnToWaiting(job, nowMs, scheduledFor, order, waits.options)
  local data = scheduledFor and '{"scheduledFor":' .. isoText(scheduledFor) .. '}' or 'null'
  recordEvent(job, at, 'replaced', status, data, eventsPerJob, unpack(fields))
  return status
end
