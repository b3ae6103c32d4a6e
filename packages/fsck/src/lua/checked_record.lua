local WHOLE = { 'attempt', 'maxRetries', 'deliveryTimeouts', 'takeBacks', 'missedWindowMs', 'eventsDropped', 'logsDropped', 'deliveredAt', 'startedAt', 'updatedAt',
  'scheduledFor', 'startBy', 'runBy', 'callbackAttempts', 'callbackRound', 'callbackDueAt', 'callbackLeasedUntil' }
local FIELDS = { 'status', 'space', 'name', 'order', 'timeoutSeconds', 'unique', 'uniqueFreed', 'fingerprint', 'retry', 'maxRunSeconds', 'startWithinSeconds',
  'priority', 'callbackOn', unpack(WHOLE) }

-- Fields that a job of a status must have, and of those that retries take away again, the ones it must not have.
local NEEDS = { scheduled = { 'scheduledFor' }, delivered = { 'deliveredAt' }, running = { 'deliveredAt', 'startedAt' }, completed = { 'deliveredAt', 'startedAt' } }
local WAITING_LACKS = { 'deliveredAt', 'startedAt', 'runBy' }
local LACKS = { scheduled = WAITING_LACKS, pending = WAITING_LACKS, delivered = { 'startedAt', 'runBy' } }

-- Read a record and note each field that is missing or impossible; nil when the job does not exist. `isPlaceable` is
-- true when the record shows the indexes of the job, `hasTimes` when it shows its time in `due`, `isCallbackKnown` when it
-- shows whether a callback follows. JSON of users is not checked, because it may be large.
local function checkedRecord(found, base, id)
  local key = base .. 'job:' .. id
  local v = redis.call('HMGET', key, unpack(FIELDS))
  local r = { id = id, key = key }
  for i, field in ipairs(FIELDS) do r[field] = stored(v[i]) end
  if not r.status and redis.call('EXISTS', key) == 0 then return nil end

  local function broken(field, what)
    find(found, 'record_broken', key, field .. ' ' .. (what or (r[field] and 'is impossible: ' .. string.sub(r[field], 1, 40) or 'is missing')))
  end
  local function check(field, isRight)
    if not isRight then broken(field) end
    return isRight
  end
  local hasStatus = check('status', IS_STATUS[r.status or ''])
  local hasSpace = check('space', r.space and isSpaceOf(base, r.space))
  local hasName = check('name', r.name and r.name ~= '')
  local hasOrder = check('order', string.find(r.order or '', '^%d+$') and tonumber(r.order) < 2 ^ 53)
  local areWhole = true
  for _, field in ipairs(WHOLE) do
    if r[field] and not check(field, string.find(r[field], '^%d+$')) then areWhole, r[field] = false, nil end
  end
  check('timeoutSeconds', (tonumber(r.timeoutSeconds or DEFAULT_TIMEOUT_SECONDS) or 0) > 0)
  check('uniqueFreed', not r.uniqueFreed or r.uniqueFreed == '1')
  check('fingerprint', not r.fingerprint or #r.fingerprint == 22 and string.find(r.fingerprint, '^[%w_-]+$'))
  if not check('unique', not r.unique or isUnique(r.unique)) then r.unique = nil end
  r.isCallbackKnown = check('callbackOn', not r.callbackOn or isCallbackOn(r.callbackOn))
  local hasPlaces = checkTiming(check, r)
  r.isPlaceable = hasStatus and hasSpace and hasName and hasOrder and hasPlaces
  -- The checks of the other fields depend on these.
  if not hasStatus or not areWhole then return r end

  local attempt, status = tonumber(r.attempt or 0), r.status
  local isWaiting = status == 'scheduled' or status == 'pending'
  r.hasTimes = status ~= 'scheduled' or r.scheduledFor ~= nil
  -- A dead job with delivery time-outs died of them, and one that was never acked of its time limit for the start, perhaps
  -- without an attempt.
  local wasAcked = not r.deliveryTimeouts and tonumber(r.startBy or 0) == 0
  local hasRun = status == 'running' or status == 'completed' or (status == 'dead' and wasAcked)
  -- A request that replaced another one may allow fewer retries than there were.
  local isReplaceable = r.unique and string.find(r.unique, '^%l+ replace ') ~= nil
  local most = isReplaceable and math.huge or tonumber(r.maxRetries or DEFAULT_MAX_RETRIES) + 1
  if attempt > most or (hasRun and attempt == 0) then broken('attempt')
  else r.hasRetried = attempt > (hasRun and 1 or 0) end
  if not isWaiting and not r.updatedAt then broken('updatedAt') end
  for _, field in ipairs(NEEDS[status] or {}) do if not r[field] then broken(field) end end
  for _, field in ipairs(LACKS[status] or {}) do if r[field] then broken(field, 'must be absent, because the job is ' .. status) end end
  if status == 'completed' and redis.call('HEXISTS', key, 'result') == 0 then broken('result') end
  return r
end
