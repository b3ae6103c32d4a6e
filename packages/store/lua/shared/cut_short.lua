-- When Redis' clock last stepped forward, in ms; 0 for never. Of a time in the future, from before a step back, nothing
-- can be said.
local function lastStep(base, now)
  local at = tonumber(stored(redis.call('GET', base .. 'stepped')) or 0)
  return at <= now and at or 0
end

-- Reopen the window of a job that is due if it was last heard of before the step: it had less than its window. Returns
-- whether it was reopened.
local function reopenIfCutShort(job, due, steppedAt, now, deliveryTimeoutMs)
  if steppedAt == 0 or (job.status ~= 'delivered' and job.status ~= 'running') then return false end
  local windowMs = windowOf(job, deliveryTimeoutMs)
  if due - windowMs >= steppedAt then return false end
  reopenWindow(job, now, windowMs)
  return true
end
