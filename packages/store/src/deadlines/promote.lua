-- KEYS due
-- ARGV base limit eventsPerJob retentionMs dueBefore
-- REPLY OK examined:number counts:number[] lagMs:number broken[]
--
-- Process the jobs of one partition that have waited for long enough, the earliest first: a scheduled job is pending, at
-- the end of the queue; one whose time to start is over is dead. If a step of Redis' clock shortened that time, it begins
-- again, for a delivered job too.
--   limit       at most 100, so that Redis is busy for some 3 ms at most
--   dueBefore   see expire.lua
--   counts      scheduled jobs now pending, scheduled ones now dead, pending ones now dead
--   lagMs       lateness of the earliest
--   broken      ids of jobs whose records are broken, or whose status is not known
local nowMs, nowText = now()
local READY = 1
local DEAD = { scheduled = 2, pending = 3 }
local before = math.min(nowMs, tonumber(dueBefore))
local steppedAt = lastStep(base, nowMs)

-- Process one job, which is not in `due` any more, and return which count that adds to.
--   n   its number in this step: jobs of one step are in the queue in this order
local function promoteOne(id, n)
  local job, scheduledFor, priority, within, startBy = loadJob(base .. 'job:' .. id, base, id, 'scheduledFor', 'priority', 'startWithinSeconds', 'startBy')
  local status = job.status
  if status ~= 'scheduled' and status ~= 'pending' and status ~= 'delivered' then
    if IS_STATUS[status or ''] or not status then return nil end -- it has moved on, or is gone
    error('unknown status')
  end

  local limit = startLimit(job, startBy)
  if limit and limit < before then
    if limit - within * 1000 >= steppedAt then
      if status == 'delivered' then return nil end -- its worker may still ack it; otherwise it dies when it is taken back
      failStart(job, nowMs, within, eventsPerJob, retentionMs)
      return DEAD[status]
    end
    limit = nowMs + math.ceil(within * 1000)
    startBy = formatInteger(limit)
    redis.call('HSET', job.key, 'startBy', startBy)
  end
  if status == 'scheduled' and tonumber(scheduledFor) < before then
    moveToStatusIndex(job, 'pending')
    enterWaiting(job, nowMs, nil, nextOrder(base, job.space, nowMs * 1024 + n), { priority, within, startBy })
    recordEvent(job, nowText, 'ready', 'pending', 'null', eventsPerJob)
    return READY
  end
  local at = math.min(status == 'scheduled' and tonumber(scheduledFor) or math.huge, limit or math.huge)
  if at < math.huge then redis.call('ZADD', due, formatInteger(at), id) end
end

local entries = redis.call('ZRANGEBYSCORE', due, '-inf', '(' .. formatInteger(before), 'WITHSCORES', 'LIMIT', 0, limit)
local ids = {}
for i = 1, #entries, 2 do ids[#ids + 1] = entries[i] end
if #ids > 0 then redis.call('ZREM', due, unpack(ids)) end -- first, see replaceEntry
local counts, broken = { 0, 0, 0 }, {}
for n, id in ipairs(ids) do
  local ok, count = pcall(promoteOne, id, n)
  if ok and count then
    counts[count] = counts[count] + 1
  elseif not ok then
    -- A record that is not valid, or of a later release. Look again in a minute, so that it does not stop the sweep.
    redis.call('ZADD', due, formatInteger(nowMs + 60000), id)
    broken[#broken + 1] = id
  end
end
return { 'OK', #ids, { unpack(counts) }, #ids > 0 and nowMs - tonumber(entries[2]) or 0, { unpack(broken) } }
