-- Put a member at a score. Begin with a ZREM on purpose: once a script has removed something, Redis lets the rest of it
-- pass even when memory is full.
local function replaceEntry(index, member, score)
  redis.call('ZREM', index, member)
  redis.call('ZADD', index, score, member)
end

-- Move a job to another status index, at its place by creation. Begins with a ZREM, see replaceEntry.
local function moveToStatusIndex(job, to)
  local index = job.base .. 'space:' .. job.space .. '/status/'
  redis.call('ZREM', index .. job.status, job.id)
  redis.call('ZADD', index .. to, job.order, job.id)
end

-- Add a claimable job to its two queues: its space's, and its space's for its name. Wake a poll that waits for it.
local function enqueue(job, order)
  local queue = job.base .. 'space:' .. job.space .. '/queue'
  redis.call('ZADD', queue, order, job.id)
  redis.call('ZADD', queue .. '/' .. job.name, order, job.id)
  wake(job)
end

local function dequeue(job)
  local queue = job.base .. 'space:' .. job.space .. '/queue'
  redis.call('ZREM', queue, job.id)
  redis.call('ZREM', queue .. '/' .. job.name, job.id)
end

-- Return the next order score of a space, as text. It is above the last one and not below the clock. So jobs keep their
-- order, including jobs of one moment, and jobs created after the clock stepped back. Its whole part over 1024 is the
-- time in milliseconds. 2^53 is reached in the year 2248.
--   moment   lowest allowed value: ms * 1024, plus the fraction of the millisecond
local function nextOrder(base, space, moment)
  local spaces, order = base .. 'spaces', formatInteger(moment)
  if redis.pcall('ZADD', spaces, 'CH', 'GT', order, space) == 1 then return order end
  -- The last one is not below; or Redis is full, and refuses the ZADD below as well; or this is ioredis-mock, without
  -- GT.
  local last = tonumber(redis.call('ZSCORE', spaces, space) or 0)
  order = formatInteger(math.max(last + 1, moment))
  redis.call('ZADD', spaces, order, space)
  return order
end
