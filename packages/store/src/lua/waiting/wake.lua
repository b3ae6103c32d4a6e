-- Announce that a job can be claimed to the processes that have waiting polls of its space: with one message for each job,
-- because each message causes one poll, see apps/api/src/waiting.
local function wake(job)
  local channel = job.base .. 'wake:' .. job.space
  if batch and batch.unheard == channel then return end
  if redis.call('PUBLISH', channel, job.name) == 0 and batch then batch.unheard = channel end
end

-- Announce that jobs of any name may be claimable in a space.
local function wakeAll(base, space)
  redis.call('PUBLISH', base .. 'wake:' .. space, '')
end
