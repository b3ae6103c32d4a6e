-- ARGV notAfter jobId name options extras fields...
-- REPLY CREATED order scheduledFor?
-- REPLY REPLAYED values?[]
-- REPLY RETURNED id values?[]
-- REPLY REPLACED id values?[] before:Status
-- REPLY NOT_UNIQUE id status:Status
-- ERRORS TOO_LATE IDEMPOTENCY_MISMATCH SPACE_FULL STORAGE_FULL
-- REPLICATED
--
-- Create a job, unless it already exists or another job occupies its unique key. When memory is full, Redis refuses the create
-- before anything is removed.
--   jobId         derived from the idempotency key; a new ID without a key
--   options       the part of its state with maxRetries, timeoutSeconds and flags
--   extras        see existingFor; '' for the plain case: a pending job without an idempotency key, in a space without limits,
--                 whose options only have to be stored
--   fields        further fields of the record (name, value, …)
--   order         creation order of the job; floor(order / 1024) is the creation time in ms
--   scheduledFor  epoch ms at which a scheduled job becomes claimable; absent for a pending one
--   values        values of the fields named in `extras`
if isTooLate(nowText, notAfter) then return { 'TOO_LATE' } end
-- Among the options, only flags are letters.
local job = { key = base .. 'job:' .. jobId, base = base, id = jobId, space = space, name = name, flags = options }
local prefix = base .. 'space:' .. space .. '/'
local status, scheduledFor, other = 'pending', nil, nil
if extras ~= '' then
  local reply
  reply, scheduledFor, other = existingFor(job, nowMs, options, extras, fields)
  if reply then return reply end
  if scheduledFor then status = 'scheduled' end
end
if knownFull then return { 'STORAGE_FULL' } end

-- An order has a resolution of 1/1024 ms, as fine as the clock of Redis, so it rarely has to exceed the previous order by 1.
local order = nextOrder(base, space, nowMs * 1024 + math.floor(micros % 1000 * 1.024))
local state = status .. ' ' .. order .. ' 0 0 1 0 ' .. options .. ' ' .. space .. ' ' .. name
redis.call('HSET', job.key, 'state', state, unpack(fields))
enter(prefix .. 'jobs', order, jobId)
enter(prefix .. 'status/' .. status, order, jobId)
countName(prefix .. 'names', name)
if extras ~= '' then
  job.status, job.order, job.attempt = status, order, '0'
  takeFields(job, fields)
  enterTags(job)
  enterWaiting(job, nowMs, scheduledFor, order)
else
  enqueue(job, order)
end
if other ~= nil then
  occupyUnique(job, job.unique, other or nil)
end
if isWatched(base) then
  publishCreation(job, status, order)
end
return { 'CREATED', order, scheduledFor and formatInteger(scheduledFor) }
