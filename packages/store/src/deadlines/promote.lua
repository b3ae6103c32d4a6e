-- KEYS due
-- ARGV base limit dueBefore
-- REPLY OK examined:number counts:number[] lagMs:number broken[] dead[]
--
-- Process the jobs of one partition that have waited for long enough, the earliest first: a scheduled job is pending, at
-- the end of the queue; one whose time to start is over is dead. If a step of Redis' clock shortened that time, it begins
-- again, for a delivered job too.
--   limit       at most 100; 50 take Redis some 2 ms
--   dueBefore   see expire.lua
--   counts      scheduled jobs now pending, scheduled ones now dead, pending ones now dead
--   lagMs       lateness of the earliest of these
--   broken      ids of jobs whose records are broken, or whose status is not known
--   dead        space, name and former status of each job that is dead now
local nowMs, nowText = now()
local READY, DEAD = 1, { scheduled = 2, pending = 3 }
local counts, lagMs, dead = { 0, 0, 0 }, 0, {}
local before, steppedAt = math.min(nowMs, tonumber(dueBefore)), lastStep(base, nowMs)

-- Process one job that has left `due`, and return which count that adds to; nil for a job that stays as it is.
--   n   its number in this step: the jobs of a step are in the queue in this order
local function promoteOne(id, n)
  local job, scheduledFor = loadJob(base, id, 'scheduledFor')
  local status = job.status
  if status ~= 'scheduled' and status ~= 'pending' and status ~= 'delivered' then
    if status and not IS_STATUS[status] then error('unknown status') end
    return nil -- it has moved on, or is gone
  end
  local limit, within = startLimit(job), option(job, 's', 'startWithinSeconds')
  if limit and limit < before then
    if not isStartCutShort(limit, within, steppedAt) then
      if status == 'delivered' then return nil end -- its worker may still ack it; otherwise it dies when it is taken back
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
  leave(due, id) -- first, see replaceEntry
  local count = promoteOne(id, n)
  if not count then return end
  counts[count] = counts[count] + 1
  lagMs = math.max(lagMs, nowMs - at)
end)
return { 'OK', examined, counts, lagMs, broken, dead }
