-- KEYS deadlines
-- ARGV base limit dueBefore random
-- REPLY OK examined:number counts:number[] lagMs:number broken[] ended[]
--
-- Process the due deadlines of one partition, oldest first. A delivered job returns to the queue or is dead, a running job fails
-- its attempt, and an ended job is purged. If a step of the clock of Redis cut a window short, the window restarts instead. A job
-- with an unknown status, perhaps from a newer release, is left alone.
--   limit          at most 100, which keeps Redis busy for about 3 ms
--   dueBefore      expire only deadlines before this reading of the clock, epoch ms, because it may have stepped since
--   random         see retryDelayMs; each job of the step derives its own number from it
--   counts         delivered → pending, delivered → dead, running → pending, running → scheduled, running → dead, purged
--                  completed, purged dead, purged killed, windows restarted
--   lagMs          lateness of the oldest deadline, not counting restarted windows
--   broken         IDs of jobs with an invalid record or an unknown status
--   ended          for each delivery or attempt that has ended: space, name, index in `counts`, duration of the attempt in ms
local nowMs = now()
local DELIVERED = { pending = 1, dead = 2 }
local FAILED = { pending = 3, scheduled = 4, dead = 5 }
local PURGED = { completed = 6, dead = 7, killed = 8 }
local REOPENED = 9
local counts, lagMs = { 0, 0, 0, 0, 0, 0, 0, 0, 0 }, nil
local steppedAt, ended = lastStep(base, nowMs), {}

-- Process one due job. Return its index in `counts` and, if a delivery or an attempt has ended, the job and the duration of the
-- attempt.
--   n   number of the job in this step
local function expireOne(id, due, n)
  local job, deliveredAt, ackWithinMs, startedAt = loadJob(base, id, 'deliveredAt', 'ackWithinMs', 'startedAt')
  if reopenIfCutShort(job, due, steppedAt, nowMs, ackWithinMs) then return REOPENED end
  lagMs = lagMs or nowMs - due
  if job.status == 'delivered' then
    local ackWindowMs = math.max(due - (tonumber(deliveredAt) or due), 0) -- the clock may have stepped in between
    return DELIVERED[failDelivery(job, ackWindowMs, nowMs)], job, 0
  elseif job.status == 'running' then
    local errorJson = '"Job timed out after ' .. job.timeoutSeconds .. ' seconds without a heartbeat"'
    local runBy = option(job, 'm', 'runBy')
    if runBy and due >= tonumber(runBy) then errorJson = '"Job ran longer than ' .. option(job, 'm', 'maxRunSeconds') .. ' seconds"' end
    return FAILED[failAttempt(job, nowMs, errorJson, { random = nextRandom(random, n) })], job, nowMs - (startedAt or nowMs)
  elseif PURGED[job.status or ''] then
    return purge(job, nowMs) and PURGED[job.status]
  elseif job.status and not IS_STATUS[job.status] then
    error('unknown status')
  end
  leave(deadlines, id) -- no record, or nothing left to do
end

-- A deadline at exactly `nowMs` is left to the next sweep: both times are rounded down, and no window may close early.
local examined, broken = sweep(deadlines, math.min(nowMs, tonumber(dueBefore)), limit, nowMs, function(id, due, n)
  local count, job, runMs = expireOne(id, due, n)
  if count then counts[count] = counts[count] + 1 end
  if job then for _, value in ipairs({ job.space, job.name, formatInteger(count), formatInteger(runMs) }) do ended[#ended + 1] = value end end
end)
return { 'OK', examined, counts, lagMs or 0, broken, ended }
