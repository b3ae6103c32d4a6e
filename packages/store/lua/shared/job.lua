-- The parts of a record that transitions look at; `status` is false when there is no such job.
local function loadJob(key, base, id)
  local v = redis.call('HMGET', key, 'status', 'space', 'name', 'order', 'attempt', 'maxRetries', 'timeoutSeconds', 'eventsDropped')
  return {
    key = key, base = base, id = id,
    status = v[1], space = v[2], name = v[3], order = v[4],
    -- An absent field means this value, for ever: records of earlier releases are read by later ones.
    attempt = tonumber(v[5] or 0), maxRetries = v[6] or '3', timeoutSeconds = v[7] or '300', eventsDropped = tonumber(v[8] or 0),
  }
end

-- The code word when this caller may not touch the job, else nil. keySpaceId '' means every space.
local function refuse(job, keySpaceId)
  if not job.status then return 'JOB_NOT_FOUND' end
  if keySpaceId ~= '' and keySpaceId ~= job.space then return 'FORBIDDEN' end
end
