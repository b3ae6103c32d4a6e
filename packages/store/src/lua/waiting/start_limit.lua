-- Return until when a job must be acked for the first time, epoch ms; nil for no limit, or when it was acked before. The
-- field `startBy` is absent before the job has been claimable, and 0 once it was acked.
local function startLimit(job)
  local at = tonumber(option(job, 's', 'startBy') or 0)
  return at > 0 and tonumber(job.attempt) == 0 and at or nil
end

-- Check whether a step of Redis' clock came in the time that a job has to start. A sweep then lets that time restart.
--   within   startWithinSeconds of its record
local function isStartCutShort(limit, within, steppedAt)
  return steppedAt > 0 and limit - within * 1000 < steppedAt
end

-- Check whether it is too late for the first ack of a job.
local function isStartOver(job, nowMs)
  local limit = startLimit(job)
  if not limit or limit >= nowMs then return false end
  return not isStartCutShort(limit, option(job, 's', 'startWithinSeconds'), lastStep(job.base, nowMs))
end

-- Make a job dead that was not acked within startWithinSeconds. Return the status.
local function failStart(job, nowMs)
  local errorJson = '"Job was not started within ' .. option(job, 's', 'startWithinSeconds') .. ' seconds"'
  return makeDead(job, nowMs, errorJson)
end
