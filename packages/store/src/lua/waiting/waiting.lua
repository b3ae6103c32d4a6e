-- A waiting job is either pending and in its queues, or scheduled. `due` contains the time at which a sweep must act on it: when
-- the job becomes claimable, or when its start limit ends. The start limit begins once the job is claimable.
--   scheduledFor   when the job becomes claimable, epoch ms; nil if it is claimable now

-- Return the score of a job in its queues: its claim order minus its head start.
local function queueScore(order, priority)
  return priority and formatInteger(order - priority * 1024000) or order
end

-- Return the claim order of a job, given its score in a queue.
local function claimOrder(score, priority)
  return priority and formatInteger(score + priority * 1024000) or score
end

-- Add a claimable job to its queues, at this claim order, or a job with `scheduledFor` to `due` only.
local function enterWaiting(job, nowMs, scheduledFor, order)
  if batch then batch.queue = nil end -- The job may precede entries that were already read; see popOldest.
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

-- Remove a waiting or delivered job from its queues and from `due`.
local function leaveWaiting(job)
  if job.status == 'pending' then dequeue(job) end
  if job.status == 'scheduled' or option(job, 's', 'startBy') then leave(job.base .. 'due', job.id) end
end

-- Return a job to the queue or schedule it, and return its new status. The first write is a ZREM; see replaceEntry.
--   order   claim order of the job; nil for the end of the queue
local function returnToWaiting(job, nowMs, scheduledFor, order)
  local status = scheduledFor and 'scheduled' or 'pending'
  moveToStatusIndex(job, status)
  leave(job.base .. 'deadlines', job.id)
  if not scheduledFor then order = order or nextOrder(job.base, job.space, nowMs * 1024) end
  enterWaiting(job, nowMs, scheduledFor, order)
  return status
end

-- Return the end of an event's JSON data, with the time at which the job becomes claimable.
local function scheduledData(scheduledFor)
  return scheduledFor and ',"scheduledFor":' .. isoText(scheduledFor) .. '}' or '}'
end
