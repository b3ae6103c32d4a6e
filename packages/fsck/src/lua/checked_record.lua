local WHOLE = { 'attempt', 'maxRetries', 'deliveryTimeouts', 'takeBacks', 'missedWindowMs', 'eventsDropped', 'logsDropped', 'deliveredAt', 'startedAt', 'updatedAt',
  'callbackAttempts', 'callbackRound', 'callbackDueAt', 'callbackLeasedUntil' }
local FIELDS = { 'status', 'space', 'name', 'order', 'timeoutSeconds', 'unique', 'uniqueFreed', 'fingerprint', unpack(WHOLE) }

-- Fields that a job of a status must have, and of those that retries take away again, the ones it must not have.
local NEEDS = { delivered = { 'deliveredAt' }, running = { 'deliveredAt', 'startedAt' }, completed = { 'deliveredAt', 'startedAt' } }
local LACKS = { pending = { 'deliveredAt', 'startedAt' }, delivered = { 'startedAt' } }

-- Read a record and note each field that is missing or impossible; nil when the job does not exist. `isPlaceable` is
-- true when the record shows the indexes of the job. JSON of users is not checked, because it may be large.
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
  r.isPlaceable = hasStatus and hasSpace and hasName and hasOrder
  -- The checks of the other fields depend on these.
  if not hasStatus or not areWhole then return r end

  local attempt, status = tonumber(r.attempt or 0), r.status
  -- A dead job with delivery time-outs died of them, perhaps without an attempt.
  local hasRun = status == 'running' or status == 'completed' or (status == 'dead' and not r.deliveryTimeouts)
  -- A request that replaced another one may allow fewer retries than there were.
  local isReplaceable = r.unique and string.find(r.unique, '^%l+ replace ') ~= nil
  local most = isReplaceable and math.huge or tonumber(r.maxRetries or DEFAULT_MAX_RETRIES) + 1
  if attempt > most or (hasRun and attempt == 0) then broken('attempt')
  else r.hasRetried = attempt > (hasRun and 1 or 0) end
  if status ~= 'pending' and not r.updatedAt then broken('updatedAt') end
  for _, field in ipairs(NEEDS[status] or {}) do if not r[field] then broken(field) end end
  for _, field in ipairs(LACKS[status] or {}) do if r[field] then broken(field, 'must be absent, because the job is ' .. status) end end
  if status == 'completed' and redis.call('HEXISTS', key, 'result') == 0 then broken('result') end
  return r
end
