-- Announce a claimable job to the processes with waiting polls for its space. Each job has its own message, because each message
-- triggers one poll; see apps/api/src/waiting.
local function wake(job)
  local channel = job.base .. 'wake:' .. job.space
  if batch and batch.unheard == channel then return end
  if redis.call('PUBLISH', channel, job.name) == 0 and batch then batch.unheard = channel end
end

-- Announce to the waiting polls of a space that jobs of any name may be claimable.
local function wakeAll(base, space)
  redis.call('PUBLISH', base .. 'wake:' .. space, '')
end
