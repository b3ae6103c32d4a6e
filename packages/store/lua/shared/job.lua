-- The parts of a record that transitions look at; `status` is false when there is no such job.
local function loadJob(key, base, id)
  local v = redis.call('HMGET', key, 'status', 'space', 'name', 'order', 'attempt', 'eventSeq', 'maxRetries', 'timeoutSeconds')
  return {
    key = key, base = base, id = id,
    status = v[1], space = v[2], name = v[3], order = v[4],
    attempt = tonumber(v[5] or 0),
    eventSeq = tonumber(v[6] or 1), -- `created` is event 1 and is not stored
    maxRetries = v[7], timeoutSeconds = v[8],
  }
end

-- The code word when this caller may not touch the job, else nil. keySpaceId '' means every space.
local function refuse(job, keySpaceId)
  if not job.status then return 'JOB_NOT_FOUND' end
  if keySpaceId ~= '' and keySpaceId ~= job.space then return 'FORBIDDEN' end
end
