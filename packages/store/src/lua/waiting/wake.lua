-- Announce that a job can be claimed to the processes that have waiting polls of its space.
local function wake(job)
  redis.call('PUBLISH', job.base .. 'wake:' .. job.space, job.name)
end

-- Announce that jobs of any name may be claimable in a space.
local function wakeAll(base, space)
  redis.call('PUBLISH', base .. 'wake:' .. space, '')
end

-- Announce several jobs of one name: with one message for each, because each message causes one poll, see
-- apps/api/src/waiting. Without a process that listens, the first message is enough to know that.
local function wakeForEach(job, count)
  for _ = 1, count do
    if redis.call('PUBLISH', job.base .. 'wake:' .. job.space, job.name) == 0 then return end
  end
end
