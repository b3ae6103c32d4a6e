-- The text of a field, nil for an absent one, whether the server says false for it (Redis) or a null (ioredis-mock).
local function stored(value)
  return type(value) == 'string' and value or nil
end

-- The parts of a record that transitions look at; `status` is nil when there is no such job. Returns further fields that are
-- asked for after them, as Redis gives them.
local function loadJob(key, base, id, ...)
  local v = redis.call('HMGET', key, 'status', 'space', 'name', 'order', 'attempt', 'maxRetries', 'timeoutSeconds', 'eventsDropped', ...)
  local job = {
    key = key, base = base, id = id,
    status = stored(v[1]), space = v[2], name = v[3], order = v[4],
    -- An absent field means this value, for ever: records of earlier releases are read by later ones.
    attempt = stored(v[5]) or '0',
    maxRetries = stored(v[6]) or '3',
    timeoutSeconds = stored(v[7]) or '300',
    eventsDropped = tonumber(stored(v[8]) or 0),
  }
  return job, unpack(v, 9, 8 + select('#', ...))
end

-- The code word when this caller may not touch the job, else nil. keySpaceId '' means every space.
local function refuse(job, keySpaceId)
  if not job.status then return 'JOB_NOT_FOUND' end
  if keySpaceId ~= '' and keySpaceId ~= job.space then return 'FORBIDDEN' end
end
