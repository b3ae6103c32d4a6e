-- Set the score of a member, even on a full Redis: once a script has removed something, Redis accepts the rest of its writes.
-- Hence the ZREM comes first.
local function replaceEntry(index, member, score)
  leave(index, member)
  enter(index, score, member)
end

-- Move a job to another status index. The first write is a ZREM; see replaceEntry.
local function moveToStatusIndex(job, to)
  local index = job.base .. 'space:' .. job.space .. '/status/'
  leave(index .. job.status, job.id)
  enter(index .. to, job.order, job.id)
end

-- Add a claimable job to the queue of its space and to the queue of its name, and wake a waiting poll.
local function enqueue(job, order)
  local queue = job.base .. 'space:' .. job.space .. '/queue'
  enter(queue, order, job.id)
  enter(queue .. '/' .. job.name, order, job.id)
  wake(job)
end

-- Remove a job from its two queues.
local function dequeue(job)
  local queue = job.base .. 'space:' .. job.space .. '/queue'
  leave(queue, job.id)
  leave(queue .. '/' .. job.name, job.id)
end

-- Return the next order of a space, as text: greater than the previous one, and at least the current moment. Jobs therefore
-- keep their order, even when they are created in the same moment or after the clock stepped back. floor(order / 1024) is the
-- time in ms. 2^53 is reached in the year 2248.
--   moment   minimum: ms * 1024, plus the fraction of the millisecond
local function nextOrder(base, space, moment)
  if batch and batch.space == space then
    batch.order, batch.isOrderNew = math.max(batch.order + 1, moment), true
    return formatInteger(batch.order)
  end
  local spaces, order = base .. 'spaces', formatInteger(moment)
  if redis.pcall('ZADD', spaces, 'CH', 'GT', order, space) ~= 1 then
    -- The previous order is not lower; or Redis is full, and refuses the next ZADD as well.
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
