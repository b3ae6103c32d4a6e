local WHOLE = { 'attempt', 'maxRetries', 'deliveryTimeouts', 'takeBacks', 'missedWindowMs', 'eventsDropped', 'logsDropped', 'deliveredAt', 'startedAt', 'updatedAt',
  'scheduledFor', 'startBy', 'runBy', 'callbackAttempts', 'callbackRound', 'callbackDueAt', 'callbackLeasedUntil' }
local FIELDS = { 'status', 'space', 'name', 'order', 'timeoutSeconds', 'unique', 'uniqueFreed', 'kept', 'fingerprint', 'retry', 'maxRunSeconds', 'startWithinSeconds',
  'priority', 'callbackOn', 'tags', unpack(WHOLE) }

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
  for _, field in ipairs({ 'uniqueFreed', 'kept' }) do check(field, not r[field] or r[field] == '1') end
  check('fingerprint', not r.fingerprint or #r.fingerprint == 22 and string.find(r.fingerprint, '^[%w_-]+$'))
  if not check('unique', not r.unique or isUnique(r.unique)) then r.unique = nil end
  if not check('tags', not r.tags or areTags(r.tags)) then r.tags = nil end
  r.isCallbackKnown = check('callbackOn', not r.callbackOn or isCallbackOn(r.callbackOn))
  local hasPlaces = checkTiming(check, r)
  r.isPlaceable = hasStatus and hasSpace and hasName and hasOrder and hasPlaces
  -- The checks of the other fields depend on these.
  if hasStatus and areWhole then checkByStatus(broken, r) end
  return r
end
