-- KEYS deadlines
-- ARGV base limit dueBefore random
-- REPLY OK examined:number counts:number[] lagMs:number broken[] ended[]
--
-- Process the due deadlines of one partition, oldest first: a delivered job is pending again, at its place by creation,
-- or dead; a running one has failed its attempt; an ended one is purged. If a step of Redis' clock shortened the window
-- of a job, the job gets another window. A status that a later release may have is left alone.
--   limit          at most 100, so that Redis is busy for some 3 ms at most
--   dueBefore      expire only deadlines before this reading of the clock, in ms, because it may have stepped since
--   random         see retryDelayMs; the jobs of the step get different ones from it
--   counts         delivered jobs pending again, delivered ones now dead, attempts failed of jobs pending again, of jobs
--                  scheduled, of jobs now dead, completed jobs purged, dead ones, killed ones, jobs given another window
--   lagMs          how late the oldest of the others was
--   broken         ids of jobs whose records are broken, or whose status is not known
--   ended          of each delivery and attempt that is over: space, name, which count, and how long the attempt has run in ms
local nowMs = now()
local DELIVERED = { pending = 1, dead = 2 }
local FAILED = { pending = 3, scheduled = 4, dead = 5 }
local PURGED = { completed = 6, dead = 7, killed = 8 }
local REOPENED = 9
local counts, lagMs = { 0, 0, 0, 0, 0, 0, 0, 0, 0 }, nil
local steppedAt, ended = lastStep(base, nowMs), {}

-- Process one job that is due. Return the index in `counts`; and if a delivery or an attempt is over, the job and how long
-- the attempt has run.
--   n   its number in this step
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
  leave(deadlines, id) -- no record, or nothing to wait for
end

-- A deadline at exactly `nowMs` waits for the next sweep: both times were rounded down, and no window may end early.
local examined, broken = sweep(deadlines, math.min(nowMs, tonumber(dueBefore)), limit, nowMs, function(id, due, n)
  local count, job, runMs = expireOne(id, due, n)
  if count then counts[count] = counts[count] + 1 end
  if job then for _, value in ipairs({ job.space, job.name, formatInteger(count), formatInteger(runMs) }) do ended[#ended + 1] = value end end
end)
return { 'OK', examined, counts, lagMs or 0, broken, ended }
