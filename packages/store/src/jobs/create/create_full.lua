-- KEYS jobKey
-- ARGV base jobId space name notAfter fingerprint eventsPerJob replayed shown maxPending delay options fields...
-- REPLY CREATED order scheduledFor
-- REPLY REPLAYED values?[]
-- REPLY RETURNED id values?[]
-- REPLY REPLACED id values?[] before:Status
-- REPLY NOT_UNIQUE id status:Status
-- ERRORS TOO_LATE IDEMPOTENCY_MISMATCH SPACE_FULL
--
-- Create a job with any options, unless this job exists already, or another one occupies its unique key. When memory is
-- full, Redis refuses it before anything is removed.
--   jobId         made from the idempotency key; a new one without such a key
--   fingerprint   of the request; '' without an idempotency key
--   replayed      names of the fields to return of a job with this idempotency key, with blanks in between
--   shown         those to return of a job with this unique key
--   maxPending    of the settings of the space; '' for no limit
--   delay         see timeOf
--   scheduledFor  of a scheduled job, epoch ms; '' for a pending one
--   options, fields   see addJob; without the fingerprint, which belongs to the job that is created
local nowMs, nowText, micros = now()
if isTooLate(nowMs, notAfter) then return { 'TOO_LATE' } end

local function valuesOf(key, fieldNames)
  local names = {}
  for field in string.gmatch(fieldNames, '%S+') do names[#names + 1] = field end
  return redis.call('HMGET', key, unpack(names))
end

if fingerprint ~= '' then
  local v = redis.call('HMGET', jobKey, 'state', 'fingerprint')
  if v[1] and v[2] ~= fingerprint then return { 'IDEMPOTENCY_MISMATCH' } end
  if v[1] then return { 'REPLAYED', valuesOf(jobKey, replayed) } end
end

local job = { key = jobKey, base = base, id = jobId, space = space, name = name }
takeFields(job, fields)
local unique, other, isOccupied = job.unique, nil, nil
if unique then other, isOccupied = uniqueHolder(job, unique, nowMs) end
if isOccupied then
  local onConflict = string.match(unique, '^%l+ (%l+)')
  if onConflict == 'reject' then return { 'NOT_UNIQUE', other.id, other.status } end
  local isReplaced = onConflict == 'replace' and (other.status == 'pending' or other.status == 'scheduled')
  if not isReplaced then return { 'RETURNED', other.id, valuesOf(other.key, shown) } end
  replaceJob(other, nowMs, eventsPerJob, options, fields, delay)
  return { 'REPLACED', other.id, valuesOf(other.key, shown), other.status }
end

if maxPending ~= '' and redis.call('ZCARD', base .. 'space:' .. space .. '/status/pending') >= tonumber(maxPending) then return { 'SPACE_FULL' } end
if fingerprint ~= '' then fields[#fields + 1], fields[#fields + 2] = 'fingerprint', fingerprint end
local order, scheduledFor = addJob(job, nowMs, micros, options, fields, delay)
if unique then occupyUnique(job, unique, other) end
return { 'CREATED', order, scheduledFor and formatInteger(scheduledFor) or '' }
