-- KEYS due
-- ARGV base limit dueBefore
-- REPLY OK examined:number counts:number[] lagMs:number broken[] dead[]
--
-- Process the due waiting jobs of one partition, earliest first. A scheduled job goes to the end of the queue; a job whose start
-- limit has passed is dead. If a step of the clock of Redis cut the start limit short, the limit restarts, even for a delivered
-- job.
--   limit       at most 100; 50 take Redis about 2 ms
--   dueBefore   see expire.lua
--   counts      scheduled → pending, scheduled → dead, pending → dead
--   lagMs       lateness of the earliest job in `counts`
--   broken      IDs of jobs with an invalid record or an unknown status
--   dead        space, name and previous status of each job that is now dead
local nowMs, nowText = now()
local READY, DEAD = 1, { scheduled = 2, pending = 3 }
local counts, lagMs, dead = { 0, 0, 0 }, 0, {}
local before, steppedAt = math.min(nowMs, tonumber(dueBefore)), lastStep(base, nowMs)

-- Process one job that was removed from `due`. Return its index in `counts`; nil if the job has not changed.
--   n   number of the job in this step, which is their order in the queue
local function promoteOne(id, n)
  local job, scheduledFor = loadJob(base, id, 'scheduledFor')
  local status = job.status
  if status ~= 'scheduled' and status ~= 'pending' and status ~= 'delivered' then
    if status and not IS_STATUS[status] then error('unknown status') end
    return nil -- its status has changed since, or it is gone
  end
  local limit, within = startLimit(job), option(job, 's', 'startWithinSeconds')
  if limit and limit < before then
    if not isStartCutShort(limit, within, steppedAt) then
      if status == 'delivered' then return nil end -- its worker may still ack it; otherwise it dies when the delivery times out
      failStart(job, nowMs)
      for _, value in ipairs({ job.space, job.name, status }) do dead[#dead + 1] = value end
      return DEAD[status]
    end
    limit = nowMs + math.ceil(within * 1000)
    job.startBy = formatInteger(limit)
    redis.call('HSET', job.key, 'startBy', job.startBy)
  end
  if status == 'scheduled' and tonumber(scheduledFor) < before then
    moveToStatusIndex(job, 'pending')
    enterWaiting(job, nowMs, nil, nextOrder(base, job.space, nowMs * 1024 + n))
    recordEvent(job, nowText, 'ready', 'pending', 'null')
    return READY
  end
  local at = math.min(status == 'scheduled' and tonumber(scheduledFor) or math.huge, limit or math.huge)
  if at < math.huge then enter(due, formatInteger(at), id) end
end

local examined, broken = sweep(due, before, limit, nowMs, function(id, at, n)
  leave(due, id) -- first; see replaceEntry
  local count = promoteOne(id, n)
  if not count then return end
  counts[count] = counts[count] + 1
  lagMs = math.max(lagMs, nowMs - at)
end)
return { 'OK', examined, counts, lagMs, broken, dead }
