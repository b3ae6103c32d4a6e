-- Return where the entry of a unique key is stored, and until when the key is occupied: the hash of the job's space, the field,
-- and `ended`, `started` or `expired`. `unique` is a field of the record: `<until> <onConflict> <ttlSeconds> <key>`.
local function uniqueEntry(job, unique)
  local lasts, key = string.match(unique, '^(%l+) %l+ %d+ (.*)$')
  return job.base .. 'space:' .. job.space .. '/unique', #job.name .. ':' .. job.name .. (key or ''), lasts
end

-- Free the unique key of a job, if the entry of the key names this job.
--   keeping   leave a key that lasts until this; nil to free every key
local function freeUnique(job, unique, keeping)
  local index, field, lasts = uniqueEntry(job, unique)
  if lasts ~= keeping and redis.call('HGET', index, field) == job.id then redis.call('HDEL', index, field) end
end

-- Check whether an ended job must occupy its unique key when it is requeued. A key with an expired TTL stays free.
local function takesUniqueBack(job, unique, nowMs)
  local freed = string.find(unique, '^expired ') and redis.call('HGET', job.key, 'uniqueFreed')
  return occupiesUnique({ status = 'pending', order = job.order }, unique, freed, nowMs)
end

-- Make a job the holder of its unique key.
--   other   previous holder, which no longer occupies the key. It is marked, so that it does not regain the key when the clock
--           steps back
local function occupyUnique(job, unique, other)
  local index, field = uniqueEntry(job, unique)
  redis.call('HSET', index, field, job.id)
  if other then redis.call('HSET', other.key, 'uniqueFreed', '1') end
end

-- Return the job named by the entry of a unique key, and whether it occupies the key; nil when the key has no entry, or a damaged
-- one, whose job is missing or has another unique key.
local function uniqueHolder(job, unique, nowMs)
  local index, field = uniqueEntry(job, unique)
  local id = redis.call('HGET', index, field)
  if not id then return nil end
  local other, itsUnique, freed = loadJob(job.base, id, 'unique', 'uniqueFreed')
  if not other.status or other.space ~= job.space or other.name ~= job.name or not itsUnique then return nil end
  local _, itsField = uniqueEntry(other, itsUnique)
  if itsField ~= field then return nil end
  return other, occupiesUnique(other, itsUnique, freed, nowMs)
end

-- Check whether a job occupies its unique key.
--   freed   field of its record, which is set once the key was freed
local function occupiesUnique(job, unique, freed, nowMs)
  if freed then return false end
  local lasts, ttlSeconds = string.match(unique, '^(%l+) %l+ (%d+) ')
  if lasts == 'expired' then return nowMs < math.floor(job.order / 1024) + ttlSeconds * 1000 end
  local waits = job.status == 'scheduled' or job.status == 'pending' or job.status == 'delivered'
  return waits or (lasts ~= 'started' and job.status == 'running')
end
