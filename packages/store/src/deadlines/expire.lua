-- KEYS deadlines
-- ARGV base limit maxDeliveries eventsPerJob retentionMs deliveryTimeoutMs dueBefore
-- REPLY OK examined:number counts:number[] lagMs:number broken[]
--
-- Process the due deadlines of one partition, oldest first: a delivered job is pending again, at its place by creation,
-- or dead; a running one has failed its attempt; an ended one is purged. If a step of Redis' clock shortened the window
-- of a job, the job gets another window.
--   limit          at most 100, so that Redis is busy for some 3 ms at most
--   maxDeliveries  delivery time-outs in a row, with no ack in between, that make a job dead
--   dueBefore      expire only deadlines before this reading of the clock, in ms, because it may have stepped since
--   counts         delivered jobs pending again, delivered ones now dead, attempts failed of jobs pending again, of
--                  jobs now dead, completed jobs purged, dead ones, killed ones, jobs given another window
--   lagMs          lateness of the oldest that was not given one
--   broken         ids of jobs whose records are broken
local nowMs = now()
local DELIVERED = { pending = 1, dead = 2 }
local FAILED = { pending = 3, dead = 4 }
local PURGED = { completed = 5, dead = 6, killed = 7 }
local REOPENED = 8
local steppedAt = lastStep(base, nowMs)

-- Process one job that is due, and return which count that adds to.
local function expireOne(id, due)
  local job, timeouts, takeBacks, deliveredAt, unique = loadJob(base .. 'job:' .. id, base, id, 'deliveryTimeouts', 'takeBacks', 'deliveredAt', 'unique')
  if reopenIfCutShort(job, due, steppedAt, nowMs, deliveryTimeoutMs) then return REOPENED end
  if job.status == 'delivered' then
    local ackWindowMs = math.max(due - (tonumber(stored(deliveredAt)) or due), 0) -- the clock may have stepped in between
    local delivery = { timeouts = timeouts, takeBacks = takeBacks, windowMs = ackWindowMs }
    return DELIVERED[failDelivery(job, delivery, nowMs, maxDeliveries, eventsPerJob, retentionMs)]
  elseif job.status == 'running' then
    local errorJson = '"Job timed out after ' .. job.timeoutSeconds .. ' seconds without a heartbeat"'
    return FAILED[failAttempt(job, nowMs, errorJson, eventsPerJob, retentionMs)]
  elseif job.status and job.status ~= 'pending' then
    return purge(job, nowMs, unique) and PURGED[job.status]
  end
  redis.call('ZREM', deadlines, id) -- no record, or nothing to wait for
end

-- Use "below" and not "at", because both ends of a window were rounded down, and none must end early.
local before = formatInteger(math.min(nowMs, tonumber(dueBefore)))
local due = redis.call('ZRANGEBYSCORE', deadlines, '-inf', '(' .. before, 'WITHSCORES', 'LIMIT', 0, limit)
local counts, broken, lagMs = { 0, 0, 0, 0, 0, 0, 0, 0 }, {}, nil
for i = 1, #due, 2 do
  local ok, count = pcall(expireOne, due[i], tonumber(due[i + 1]))
  if count ~= REOPENED then lagMs = lagMs or nowMs - tonumber(due[i + 1]) end
  if ok and count then
    counts[count] = counts[count] + 1
  elseif not ok then
    -- A record that is not valid. Look again in a minute, so that it does not stop the sweep.
    replaceEntry(deadlines, due[i], formatInteger(nowMs + 60000))
    broken[#broken + 1] = due[i]
  end
end
return { 'OK', #due / 2, { unpack(counts) }, lagMs or 0, { unpack(broken) } }
