-- Return how long the execution window of a job is, in milliseconds.
local function executionMs(job)
  return math.ceil(tonumber(job.timeoutSeconds) * 1000)
end

-- Return how long the window of a delivered or running job is, in milliseconds.
local function windowMs(job, deliveryTimeoutMs)
  return job.status == 'delivered' and tonumber(deliveryTimeoutMs) or executionMs(job)
end

-- Give a delivered or running job a window from now on. It times out when the window closes without a call of its
-- worker.
local function openWindow(job, nowMs, ms)
  redis.call('ZADD', job.base .. 'deadlines', formatInteger(nowMs + ms), job.id)
end

-- Open the window of a job again, on a full Redis too, see replaceEntry.
local function reopenWindow(job, nowMs, ms)
  replaceEntry(job.base .. 'deadlines', job.id, formatInteger(nowMs + ms))
end

-- Return when Redis' clock last stepped forward, in ms; 0 for never. A time in the future is from before a step back,
-- and is ignored.
local function lastStep(base, nowMs)
  local at = tonumber(stored(redis.call('GET', base .. 'stepped')) or 0)
  return at <= nowMs and at or 0
end

-- Open the window of a job that is due again if its worker's last call was before the step, because the job had less
-- than its window. Return whether it was opened.
local function reopenIfCutShort(job, due, steppedAt, nowMs, deliveryTimeoutMs)
  if steppedAt == 0 or (job.status ~= 'delivered' and job.status ~= 'running') then return false end
  local ms = windowMs(job, deliveryTimeoutMs)
  if due - ms >= steppedAt then return false end
  reopenWindow(job, nowMs, ms)
  return true
end
