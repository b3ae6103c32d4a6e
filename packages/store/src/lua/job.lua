-- The state of a job is one field of its record, because reading one field and taking it apart costs Redis a third of
-- reading eight:
--
--   <status> <order> <attempt> <takeBacks> <seq> <updatedAt> <maxRetries> <timeoutSeconds> <flags>
--
--   order       place by creation
--   attempt     attempts started; those before a requeue do not count
--   takeBacks   delivery timeouts, releases and requeues so far, see attempt/delivery.lua
--   seq         of the newest event
--   updatedAt   epoch ms; 0 for a job that is as it was created
--   flags       `-`, and a letter for each option that the record has: `u` unique, `c` callbackUrl, `t` tags, `p` priority,
--               `s` startWithinSeconds, `m` maxRunSeconds, `r` retry, `k` checkpoint, `d` deliveryTimeouts; and `h` when the
--               history has a list

-- Read the state of a job, with its space and name; `status` is nil when the job does not exist. Further fields that are
-- asked for are returned after them, false for an absent one.
local function loadJob(key, base, id, ...)
  local v = redis.call('HMGET', key, 'state', 'space', 'name', ...)
  local job = { key = key, base = base, id = id, space = v[2], name = v[3] }
  unpackState(job, v[1])
  return job, unpack(v, 4, 3 + select('#', ...))
end

-- Take a state apart. @throws for one that is not valid, after which a sweep skips the job, and fsck reports it
local function unpackState(job, state)
  if not state then return end
  job.state = state
  job.status, job.order, job.attempt, job.takeBacks, job.seq, job.updatedAt, job.maxRetries, job.timeoutSeconds, job.flags =
    string.match(state, '^(%l+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%S+) (%S+)$')
  if not job.status then error('the state of the job is not valid') end
end

-- Return the state of a job that has changed at this time.
local function stateOf(job, status, at)
  return status .. ' ' .. job.order .. ' ' .. job.attempt .. ' ' .. job.takeBacks .. ' ' .. job.seq .. ' ' .. at .. ' ' .. job.maxRetries
    .. ' ' .. job.timeoutSeconds .. ' ' .. job.flags
end

-- Return the error code when this caller must not touch the job, else nil. keySpaceId '' means every space.
local function refusalFor(status, space, keySpaceId)
  if not status then return 'JOB_NOT_FOUND' end
  if keySpaceId ~= '' and keySpaceId ~= space then return 'FORBIDDEN' end
end
