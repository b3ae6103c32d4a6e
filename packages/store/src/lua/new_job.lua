-- Store a pending job at the end of its space's queues, and return its order. create.lua repeats it.
--   micros   of the second, see now
--   fields   further fields of the record, name and value in turn
local function addJob(job, nowMs, micros, fields)
  local base, space, id = job.base, job.space, job.id
  -- Orders of 1/1024 ms distinguish the moments of Redis, so the last order of the space is seldom needed.
  local moment = nowMs * 1024 + math.floor(micros % 1000 * 1.024)
  local order = nextOrder(base, space, moment)
  redis.call('HSET', job.key, 'status', 'pending', 'space', space, 'name', job.name, 'order', order, unpack(fields))
  redis.call('ZADD', base .. 'space:' .. space .. '/jobs', order, id)
  redis.call('ZADD', base .. 'space:' .. space .. '/status/pending', order, id)
  redis.call('ZINCRBY', base .. 'space:' .. space .. '/names', '1', job.name) -- as text, because printing a number takes time
  enqueue(job, order)
  publish(job, '1', 'created', 'pending', formatInteger(math.floor(order / 1024)), 'null')
  return order
end

-- Replace the request of a pending job. The first write tests whether memory is full, before anything is removed. The
-- checkpoint goes too, because it belongs to the payload.
--   fields   of the record that are not at their defaults, name and value in turn
local function replaceJob(job, at, eventsPerJob, fields)
  redis.call('HSET', job.key, 'updatedAt', at)
  redis.call('HDEL', job.key, 'payload', 'maxRetries', 'timeoutSeconds', 'callbackUrl', 'callbackHeaders', 'checkpoint')
  recordEvent(job, at, 'replaced', 'pending', 'null', eventsPerJob, unpack(fields))
end
