-- Return until when a job must be acked for the first time, epoch ms; nil for no limit, or when it was acked before.
--   startBy   field of its record: absent before the job has been claimable, 0 once it was acked
local function startLimit(job, startBy)
  local at = tonumber(stored(startBy) or 0)
  return at > 0 and tonumber(job.attempt) == 0 and at or nil
end

-- Check whether a step of Redis' clock came in the time that a job has to start. A sweep then lets that time restart.
--   within   startWithinSeconds of its record
local function isStartCutShort(limit, within, steppedAt)
  return steppedAt > 0 and limit - within * 1000 < steppedAt
end

-- Check whether it is too late for the first ack of a job.
local function isStartOver(job, startBy, within, nowMs)
  local limit = startLimit(job, startBy)
  if not limit or limit >= nowMs then return false end
  return not isStartCutShort(limit, within, lastStep(job.base, nowMs))
end

-- Make a job dead that was not acked within startWithinSeconds. Return the status.
local function failStart(job, nowMs, within, eventsPerJob, retentionMs)
  return makeDead(job, nowMs, '"Job was not started within ' .. within .. ' seconds"', eventsPerJob, retentionMs)
end
