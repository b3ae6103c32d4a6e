-- Return the text of a field; nil for an absent one, for which Redis returns false and ioredis-mock a null.
local function stored(value)
  return type(value) == 'string' and value or nil
end

-- Read the fields of a record that transitions need; `status` is nil when the job does not exist. Further fields that
-- are asked for are returned after them, as Redis returns them.
local function loadJob(key, base, id, ...)
  local v = redis.call('HMGET', key, 'status', 'space', 'name', 'order', 'attempt', 'maxRetries', 'timeoutSeconds', 'eventsDropped', 'tags', ...)
  local job = {
    key = key, base = base, id = id,
    status = stored(v[1]), space = v[2], name = v[3], order = v[4],
    attempt = stored(v[5]) or DEFAULT_ATTEMPT,
    maxRetries = stored(v[6]) or DEFAULT_MAX_RETRIES,
    timeoutSeconds = stored(v[7]) or DEFAULT_TIMEOUT_SECONDS,
    eventsDropped = tonumber(stored(v[8]) or 0),
    tags = stored(v[9]),
  }
  return job, unpack(v, 10, 9 + select('#', ...))
end

-- Read a whole record, for a script that needs most of it. A field is a field of the result, or nil.
local function loadWhole(key, base, id)
  local job = {
    key = key, base = base, id = id, attempt = DEFAULT_ATTEMPT, maxRetries = DEFAULT_MAX_RETRIES,
    timeoutSeconds = DEFAULT_TIMEOUT_SECONDS, eventsDropped = 0,
  }
  local v = redis.call('HGETALL', key)
  for i = 1, #v, 2 do job[v[i]] = v[i + 1] end
  job.isNew = job.updatedAt == nil
  return job
end

-- Return the error code when this caller must not touch the job, else nil. keySpaceId '' means every space.
local function refusalFor(status, space, keySpaceId)
  if not status then return 'JOB_NOT_FOUND' end
  if keySpaceId ~= '' and keySpaceId ~= space then return 'FORBIDDEN' end
end
