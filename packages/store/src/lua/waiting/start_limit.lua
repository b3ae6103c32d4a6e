-- Return the time by which a job must be acked for the first time, epoch ms; nil without a limit or after the first ack. The
-- field `startBy` is absent until the job becomes claimable, and 0 after the first ack.
local function startLimit(job)
  local at = tonumber(option(job, 's', 'startBy') or 0)
  return at > 0 and tonumber(job.attempt) == 0 and at or nil
end

-- Check whether the clock of Redis stepped forward during the start limit of a job. A sweep then restarts the limit.
--   within   startWithinSeconds of the record
local function isStartCutShort(limit, within, steppedAt)
  return steppedAt > 0 and limit - within * 1000 < steppedAt
end

-- Check whether the start limit of a job has passed.
local function isStartOver(job, nowMs)
  local limit = startLimit(job)
  if not limit or limit >= nowMs then return false end
  return not isStartCutShort(limit, option(job, 's', 'startWithinSeconds'), lastStep(job.base, nowMs))
end

-- Mark a job as dead that was not acked within startWithinSeconds, and return 'dead'.
local function failStart(job, nowMs)
  local errorJson = '"Job was not started within ' .. option(job, 's', 'startWithinSeconds') .. ' seconds"'
  return makeDead(job, nowMs, errorJson)
end
