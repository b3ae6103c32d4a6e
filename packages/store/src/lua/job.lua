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

-- Read the state of a job, with its space and name; `status` is nil when the job does not exist. Up to three further fields
-- that are asked for are returned after it, false for an absent one.
-- @throws for a state that is not valid, after which a sweep skips the job, and fsck reports it
local function loadJob(key, base, id, ...)
  local v = redis.call('HMGET', key, 'state', 'space', 'name', ...)
  local status, order, attempt, takeBacks, seq, updatedAt, maxRetries, timeoutSeconds, flags =
    string.match(v[1] or '', '^(%l+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%S+) (%S+)$')
  if v[1] and not status then error('the state of the job is not valid') end
  local job = { -- made at once, because a table that grows costs more
    key = key, base = base, id = id, space = v[2], name = v[3], state = v[1], status = status, order = order, attempt = attempt,
    takeBacks = takeBacks, seq = seq, updatedAt = updatedAt, maxRetries = maxRetries, timeoutSeconds = timeoutSeconds, flags = flags,
  }
  return job, v[4], v[5], v[6]
end

-- Whole numbers as text, by the one before and by the one after: to read and print a number takes Redis 3,000 instructions.
local NEXT = { ['0'] = '1', ['1'] = '2', ['2'] = '3', ['3'] = '4', ['4'] = '5', ['5'] = '6', ['6'] = '7', ['7'] = '8' }
local PREVIOUS = { ['1'] = '0', ['2'] = '1', ['3'] = '2', ['4'] = '3' }

local function nextOf(text)
  return NEXT[text] or formatInteger(text + 1)
end

local function previousOf(text)
  return PREVIOUS[text] or formatInteger(text - 1)
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
