-- A waiting job is pending, and in its queues, or scheduled. `due` has a time for it when a sweep must act: when
-- the job becomes claimable, or when its time to start is over. That time begins once the job can be claimed.
--   scheduledFor   when the job becomes claimable, epoch ms; nil when it is

-- Return the score of a job in its queues: its claim order, minus its head start.
local function queueScore(order, priority)
  return priority and formatInteger(order - priority * 1024000) or order
end

-- Return the claim order of a job from its score in a queue.
local function claimOrder(score, priority)
  return priority and formatInteger(score + priority * 1024000) or score
end

-- Enter a claimable job in its queues, at this claim order. A job with `scheduledFor` only gets an entry in `due`.
local function enterWaiting(job, nowMs, scheduledFor, order)
  if batch then batch.queue = nil end -- Its place may be before some that were read, see popOldest.
  local limit = startLimit(job)
  if scheduledFor then
    redis.call('HSET', job.key, 'scheduledFor', formatInteger(scheduledFor))
  else
    enqueue(job, queueScore(order, option(job, 'p', 'priority')))
    if has(job, 's') and not job.startBy and tonumber(job.attempt) == 0 then
      limit = nowMs + math.ceil(option(job, 's', 'startWithinSeconds') * 1000)
      job.startBy = formatInteger(limit)
      redis.call('HSET', job.key, 'startBy', job.startBy)
    end
  end
  local due = math.min(scheduledFor or math.huge, limit or math.huge)
  if due < math.huge then enter(job.base .. 'due', formatInteger(due), job.id) end
end

-- Take a job that has not started from where it waits.
local function leaveWaiting(job)
  if job.status == 'pending' then dequeue(job) end
  if job.status == 'scheduled' or option(job, 's', 'startBy') then leave(job.base .. 'due', job.id) end
end

-- Send a job back to waiting, and return its status. It begins with the ZREM of moveToStatusIndex.
--   order   its claim order; nil for the end of the queue
local function returnToWaiting(job, nowMs, scheduledFor, order)
  local status = scheduledFor and 'scheduled' or 'pending'
  moveToStatusIndex(job, status)
  leave(job.base .. 'deadlines', job.id)
  if not scheduledFor then order = order or nextOrder(job.base, job.space, nowMs * 1024) end
  enterWaiting(job, nowMs, scheduledFor, order)
  return status
end

-- Return the end of an event's JSON data that says when the job becomes claimable.
local function scheduledData(scheduledFor)
  return scheduledFor and ',"scheduledFor":' .. isoText(scheduledFor) .. '}' or '}'
end
