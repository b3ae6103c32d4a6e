-- Read the state of a job, and up to three further fields of its record. Return the job and the fields: `status` is nil when
-- the job does not exist, and an absent field is false.
-- @throws for an invalid state; a sweep then skips the job, and fsck reports it
local function loadJob(base, id, ...)
  local key = base .. 'job:' .. id
  local state, first, second, third
  if ... then
    local v = redis.call('HMGET', key, 'state', ...)
    state, first, second, third = v[1], v[2], v[3], v[4]
  else
    state = redis.call('HGET', key, 'state') -- A reply that is not a table saves 2,000 instructions.
  end
  local status, order, attempt, returns, seq, updatedAt, maxRetries, timeoutSeconds, flags, space, name =
    string.match(state or '', STATE)
  if state and not status then error('the state of the job is not valid') end
  local job = { -- in one constructor, because a table that grows costs more
    key = key, base = base, id = id, space = space, name = name, state = state, status = status, order = order, attempt = attempt,
    returns = returns, seq = seq, updatedAt = updatedAt, maxRetries = maxRetries, timeoutSeconds = timeoutSeconds, flags = flags,
  }
  return job, first, second, third
end

-- Read the state of a job for a caller that may access only this space ('' for any). Return the job, nil and any further
-- fields; or nil and the reply that refuses the call.
local function openJob(base, space, id, ...)
  local job, first, second, third = loadJob(base, id, ...)
  if not job.status then return nil, { 'JOB_NOT_FOUND' } end
  if space ~= '' and space ~= job.space then return nil, { 'FORBIDDEN' } end
  return job, nil, first, second, third
end

-- Successors and predecessors of small numbers, as text. To parse and format a number takes Redis 3,000 instructions.
local NEXT = { ['0'] = '1', ['1'] = '2', ['2'] = '3', ['3'] = '4', ['4'] = '5', ['5'] = '6', ['6'] = '7', ['7'] = '8' }
local PREVIOUS = { ['1'] = '0', ['2'] = '1', ['3'] = '2', ['4'] = '3' }

local function nextOf(text)
  return NEXT[text] or formatInteger(text + 1)
end

local function previousOf(text)
  return PREVIOUS[text] or formatInteger(text - 1)
end
