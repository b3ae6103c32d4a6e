-- Put a member at a score. Begin with a ZREM on purpose: once a script has removed something, Redis lets the rest of it
-- pass even when memory is full.
local function replaceEntry(index, member, score)
  leave(index, member)
  enter(index, score, member)
end

-- Move a job to another status index, at its place by creation. Begins with a ZREM, see replaceEntry.
local function moveToStatusIndex(job, to)
  local index = job.base .. 'space:' .. job.space .. '/status/'
  leave(index .. job.status, job.id)
  enter(index .. to, job.order, job.id)
end

-- Add a claimable job to its two queues: its space's, and its space's for its name. Wake a poll that waits for it.
local function enqueue(job, order)
  local queue = job.base .. 'space:' .. job.space .. '/queue'
  enter(queue, order, job.id)
  enter(queue .. '/' .. job.name, order, job.id)
  wake(job)
end

local function dequeue(job)
  local queue = job.base .. 'space:' .. job.space .. '/queue'
  leave(queue, job.id)
  leave(queue .. '/' .. job.name, job.id)
end

-- Return the next order score of a space, as text. It is above the last one and not below the clock. So jobs keep their
-- order, including jobs of one moment, and jobs created after the clock stepped back. Its whole part over 1024 is the
-- time in milliseconds. 2^53 is reached in the year 2248.
--   moment   lowest allowed value: ms * 1024, plus the fraction of the millisecond
local function nextOrder(base, space, moment)
  if batch and batch.space == space then
    batch.order, batch.isOrderNew = math.max(batch.order + 1, moment), true
    return formatInteger(batch.order)
  end
  local spaces, order = base .. 'spaces', formatInteger(moment)
  if redis.pcall('ZADD', spaces, 'CH', 'GT', order, space) ~= 1 then
    -- The last one is not below; or Redis is full, and refuses the ZADD below as well.
    local last = tonumber(redis.call('ZSCORE', spaces, space) or 0)
    order = formatInteger(math.max(last + 1, moment))
    redis.call('ZADD', spaces, order, space)
  end
  if batch then
    storeOrder()
    batch.base, batch.space, batch.order = base, space, tonumber(order)
  end
  return order
end
