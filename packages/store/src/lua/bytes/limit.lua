-- Bytes are counted only in a space whose settings have maxBytes. A job that is counted has the flag `b`, and its record the
-- field `bytes`: `<round> <bytes>`, the memory that Redis used for the job when it was last measured. The space's /bytes is a
-- hash of these fields:
--   most     maxBytes of the settings
--   round    names the recount that is running, or was the last: epoch ms of its beginning; at first, when the setting was made, and
--            the version of the settings
--   sum      bytes of the jobs that were measured since then
--   rest     of the other jobs, while a recount is running. What is left of it in the end is how far the sum was off
--   cursor   creation order of the last job that the recount has measured; absent while none is running

-- Check whether the space of a job holds as many bytes as its settings allow. Return also the round, false in a space whose
-- bytes are not counted.
local function isSpaceFull(job)
  local v = redis.call('HMGET', job.base .. 'space:' .. job.space .. '/bytes', 'most', 'sum', 'rest', 'round')
  return v[1] and (v[2] or 0) + (v[3] or 0) >= tonumber(v[1]), v[4]
end

-- Return the reply of a create that the limits of its space refuse. Otherwise return nil, and count the bytes of the job, which
-- cannot be measured yet: its record takes some 400 more than what was sent.
--   limits   maxPending of the settings as far as the process knows, and `b` if they have maxBytes
--   fields   of the record; bytes are added
local function refusalOfSpace(job, limits, fields)
  local space = job.base .. 'space:' .. job.space .. '/'
  local maxPending, isCounted = string.match(limits, '^(%d*)(b?)$')
  if maxPending ~= '' and redis.call('ZCARD', written(space .. 'status/pending')) >= tonumber(maxPending) then return { 'SPACE_FULL' } end
  if isCounted == '' or knownFull then return nil end -- create.lua refuses it when Redis is full
  local isFull, round = isSpaceFull(job)
  if isFull then return { 'SPACE_FULL', 'bytes' } end
  if not round then return nil end
  local bytes = 400 + indexBytes(job.name, job.tags)
  for _, field in ipairs(fields) do bytes = bytes + #field end
  bytes = formatInteger(bytes)
  redis.call('HINCRBY', space .. 'bytes', 'sum', bytes)
  fields[#fields + 1], fields[#fields + 2] = 'bytes', round .. ' ' .. bytes
end

-- Begin to count the bytes of a space by its maxBytes, or stop with ''. A recount counts the jobs that exist; it begins 5 s later,
-- when every process knows the setting. Once it is stopped, the `bytes` of jobs mean nothing.
local function applyMaxBytes(base, space, maxBytes)
  local sums, recounts = base .. 'space:' .. space .. '/bytes', base .. 'recounts'
  if maxBytes == '' then
    redis.call('ZREM', recounts, space)
    redis.call('UNLINK', sums)
    return
  end
  local nowMs, nowText = now()
  redis.call('HSET', sums, 'most', maxBytes)
  -- The version of the settings makes it another round than that of a setting that was removed in the same millisecond.
  redis.call('HSETNX', sums, 'round', nowText .. (redis.call('HGET', base .. 'settings', '') or ''))
  redis.call('ZADD', recounts, 'NX', formatInteger(nowMs + 5000), space)
end
