-- Return the length of a job's execution window, in ms.
local function executionMs(job)
  return math.ceil(numberOf(job.timeoutSeconds) * 1000)
end

-- Return the length of a job's delivery window, in ms. With the setting 0, it is as long as the execution window.
--   ackWithinMs   delivery window requested by the poll; nil or false for the setting
local function deliveryMs(job, ackWithinMs)
  local ms = tonumber(ackWithinMs or DELIVERY_TIMEOUT_MS)
  return ms > 0 and ms or executionMs(job)
end

-- Return the length of the current window of a delivered or running job, in ms.
local function windowMs(job, ackWithinMs)
  return job.status == 'delivered' and deliveryMs(job, ackWithinMs) or executionMs(job)
end

-- Open a window for a delivered or running job, starting now. The job times out if its worker does not call before the window
-- closes.
--   runBy   when the running attempt must end, from the record; nil without maxRunSeconds
local function openWindow(job, nowMs, ms, runBy)
  local closes = nowMs + ms
  if runBy then closes = math.min(closes, tonumber(runBy)) end
  enter(job.base .. 'deadlines', formatInteger(closes), job.id)
end

-- Restart the window of a job, even on a full Redis; see replaceEntry.
local function reopenWindow(job, nowMs, ms, runBy)
  leave(job.base .. 'deadlines', job.id)
  openWindow(job, nowMs, ms, runBy)
end

-- Start the run limit of an attempt, and return when the attempt must end.
local function startRun(job, nowMs, maxRunSeconds)
  local runBy = formatInteger(nowMs + math.ceil(maxRunSeconds * 1000))
  redis.call('HSET', job.key, 'runBy', runBy)
  return runBy
end

-- Return when the clock of Redis last stepped forward, epoch ms; 0 for never. A time in the future is ignored: the clock has
-- stepped back since.
local function lastStep(base, nowMs)
  local at = tonumber(redis.call('GET', base .. 'stepped') or 0)
  return at <= nowMs and at or 0
end

-- Restart the window and the run limit of a job if the clock has stepped forward since its worker's last call, because the
-- worker had less time than promised. Return whether the window was restarted.
local function reopenIfCutShort(job, due, steppedAt, nowMs, ackWithinMs)
  if steppedAt == 0 or (job.status ~= 'delivered' and job.status ~= 'running') then return false end
  local ms, longest, runBy = windowMs(job, ackWithinMs), option(job, 'm', 'maxRunSeconds'), option(job, 'm', 'runBy')
  local isRunOver = job.status == 'running' and runBy and due >= tonumber(runBy)
  if due - (isRunOver and longest * 1000 or ms) >= steppedAt then return false end
  if isRunOver then runBy = startRun(job, nowMs, longest) end
  reopenWindow(job, nowMs, ms, runBy)
  return true
end
