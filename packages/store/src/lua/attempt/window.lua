-- Return how long the execution window of a job is, in milliseconds.
local function executionMs(job)
  return math.ceil(numberOf(job.timeoutSeconds) * 1000)
end

-- Return how long the delivery window of a job is, in milliseconds.
-- The setting may be 0, for as long as the execution window.
--   ackWithinMs   what its poll asked for; nil or false for the setting
local function deliveryMs(job, ackWithinMs)
  local ms = tonumber(ackWithinMs or DELIVERY_TIMEOUT_MS)
  return ms > 0 and ms or executionMs(job)
end

-- Return how long the window of a delivered or running job is, in milliseconds.
local function windowMs(job, ackWithinMs)
  return job.status == 'delivered' and deliveryMs(job, ackWithinMs) or executionMs(job)
end

-- Give a delivered or running job a window from now on. It times out when the window closes without a call of its
-- worker.
--   runBy   of its record: when a running attempt must end; absent without maxRunSeconds
local function openWindow(job, nowMs, ms, runBy)
  local closes = nowMs + ms
  if runBy then closes = math.min(closes, tonumber(runBy)) end
  enter(job.base .. 'deadlines', formatInteger(closes), job.id)
end

-- Open the window of a job again, on a full Redis too, see replaceEntry.
local function reopenWindow(job, nowMs, ms, runBy)
  leave(job.base .. 'deadlines', job.id)
  openWindow(job, nowMs, ms, runBy)
end

-- Start the time limit of an attempt, and return when the attempt must end.
local function startRun(job, nowMs, maxRunSeconds)
  local runBy = formatInteger(nowMs + math.ceil(maxRunSeconds * 1000))
  redis.call('HSET', job.key, 'runBy', runBy)
  return runBy
end

-- Return when Redis' clock last stepped forward, in ms; 0 for never. A time in the future is from before a step back,
-- and is ignored.
local function lastStep(base, nowMs)
  local at = tonumber(redis.call('GET', base .. 'stepped') or 0)
  return at <= nowMs and at or 0
end

-- If the clock has jumped since the worker's last call, its job had less time than it was promised: open its window
-- again, and move the time limit of its attempt. Return whether it was opened.
local function reopenIfCutShort(job, due, steppedAt, nowMs, ackWithinMs)
  if steppedAt == 0 or (job.status ~= 'delivered' and job.status ~= 'running') then return false end
  local ms, longest, runBy = windowMs(job, ackWithinMs), option(job, 'm', 'maxRunSeconds'), option(job, 'm', 'runBy')
  local isRunOver = job.status == 'running' and runBy and due >= tonumber(runBy)
  if due - (isRunOver and longest * 1000 or ms) >= steppedAt then return false end
  if isRunOver then runBy = startRun(job, nowMs, longest) end
  reopenWindow(job, nowMs, ms, runBy)
  return true
end
