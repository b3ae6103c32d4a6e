-- Bytes are counted only in a space whose settings have maxBytes. A counted job has the flag `b` and, in its record, the field
-- `bytes`: `<round> <bytes>`, the memory that Redis used for the job when it was last measured. The space's /bytes is a hash
-- with these fields:
--   most     maxBytes of the settings
--   round    name of the current or latest recount: epoch ms of its start. Before the first recount: epoch ms of the setting,
--            followed by the version of the settings
--   sum      bytes of the jobs measured since then
--   rest     bytes of the other jobs during a recount. What remains at its end is the error of the previous sum
--   cursor   creation order of the job that the recount measured last; absent while no recount is running

-- Check whether the space of a job has reached its maxBytes. Also return the round; false in a space whose bytes are not
-- counted.
local function isSpaceFull(job)
  local v = redis.call('HMGET', job.base .. 'space:' .. job.space .. '/bytes', 'most', 'sum', 'rest', 'round')
  return v[1] and (v[2] or 0) + (v[3] or 0) >= tonumber(v[1]), v[4]
end

-- Return the refusal of a create that exceeds the limits of its space. Otherwise count an estimate of the job's bytes, because
-- it cannot be measured yet, and return nil. A record takes about 400 bytes more than its fields.
--   limits   maxPending of the settings that the process knows, followed by `b` if they have maxBytes
--   fields   fields of the record (name, value, …); `bytes` is added
local function refusalOfSpace(job, limits, fields)
  local space = job.base .. 'space:' .. job.space .. '/'
  local maxPending, isCounted = string.match(limits, '^(%d*)(b?)$')
  if maxPending ~= '' and redis.call('ZCARD', written(space .. 'status/pending')) >= tonumber(maxPending) then return { 'SPACE_FULL' } end
  if isCounted == '' or knownFull then return nil end -- create.lua refuses the job when Redis is full
  local isFull, round = isSpaceFull(job)
  if isFull then return { 'SPACE_FULL', 'bytes' } end
  if not round then return nil end
  local bytes = 400 + indexBytes(job.name, job.tags)
  for _, field in ipairs(fields) do bytes = bytes + #field end
  bytes = formatInteger(bytes)
  redis.call('HINCRBY', space .. 'bytes', 'sum', bytes)
  fields[#fields + 1], fields[#fields + 2] = 'bytes', round .. ' ' .. bytes
end

-- Start counting the bytes of a space that has a maxBytes, or stop counting if it is ''. A recount measures the existing jobs. It
-- starts after 5 s, when every process knows the setting. Once counting has stopped, the field `bytes` of a job means nothing.
local function applyMaxBytes(base, space, maxBytes)
  local sums, recounts = base .. 'space:' .. space .. '/bytes', base .. 'recounts'
  if maxBytes == '' then
    redis.call('ZREM', recounts, space)
    redis.call('UNLINK', sums)
    return
  end
  local nowMs, nowText = now()
  redis.call('HSET', sums, 'most', maxBytes)
  -- The version of the settings distinguishes this round from that of a setting removed in the same millisecond.
  redis.call('HSETNX', sums, 'round', nowText .. (redis.call('HGET', base .. 'settings', '') or ''))
  redis.call('ZADD', recounts, 'NX', formatInteger(nowMs + 5000), space)
end
