local WHOLE = { 'deliveryTimeouts', 'missedWindowMs', 'logsDropped', 'deliveredAt', 'startedAt', 'scheduledFor', 'startBy', 'runBy',
  'callbackAttempts', 'callbackRound', 'callbackDueAt', 'callbackLeasedUntil' }
local FIELDS = { 'state', 'unique', 'uniqueFreed', 'kept', 'fingerprint', 'retry', 'maxRunSeconds', 'startWithinSeconds',
  'priority', 'callbackOn', 'tags', 'bytes', unpack(WHOLE) }
-- Fields of a record by their flags.
local FLAGGED = { u = 'unique', c = 'callbackUrl', t = 'tags', p = 'priority', s = 'startWithinSeconds', m = 'maxRunSeconds', r = 'retry',
  k = 'checkpoint', d = 'deliveryTimeouts' }

-- Read a record and report each missing or invalid field; nil when the job does not exist. `isPlaceable` is true if the record
-- determines the indexes of the job, `hasTimes` if it determines its time in `due`, and `isCallbackKnown` if it determines
-- whether the job has a callback. JSON from users is not checked, because it can be large.
local function checkedRecord(found, base, id)
  local key = base .. 'job:' .. id
  local v = redis.call('HMGET', key, unpack(FIELDS))
  local r = { id = id, key = key }
  for i, field in ipairs(FIELDS) do r[field] = v[i] or nil end
  if not r.state and redis.call('EXISTS', key) == 0 then return nil end

  local function broken(field, what)
    find(found, 'record_broken', key, field .. ' ' .. (what or (r[field] and 'is invalid: ' .. string.sub(r[field], 1, 80) or 'is missing')))
  end
  local function check(field, isRight)
    if not isRight then broken(field) end
    return isRight
  end
  r.status, r.order, r.attempt, r.returns, r.seq, r.updatedAt, r.maxRetries, r.timeoutSeconds, r.flags, r.space, r.name =
    string.match(r.state or '', STATE)
  local hasState = check('state', r.status and IS_STATUS[r.status] and tonumber(r.order) < 2 ^ 53
    and (tonumber(r.timeoutSeconds) or 0) > 0 and string.find(r.flags, '^%-[bcdhkmprstu]*$') and isSpaceOf(base, r.space))
  local areWhole = true
  for _, field in ipairs(WHOLE) do
    if r[field] and not check(field, string.find(r[field], '^%d+$')) then areWhole, r[field] = false, nil end
  end
  for _, field in ipairs({ 'uniqueFreed', 'kept' }) do check(field, not r[field] or r[field] == '1') end
  check('fingerprint', not r.fingerprint or #r.fingerprint == 22 and string.find(r.fingerprint, '^[%w_-]+$'))
  if not check('unique', not r.unique or isUnique(r.unique)) then r.unique = nil end
  if not check('tags', not r.tags or areTags(r.tags)) then r.tags = nil end
  check('bytes', not r.bytes or string.find(r.bytes, '^%d+ %d+$'))
  r.isCallbackKnown = check('callbackOn', not r.callbackOn or isCallbackOn(r.callbackOn))
  local hasPlaces = checkTiming(check, r)
  if hasState then checkFlags(broken, r) end
  r.isPlaceable = hasState and hasPlaces
  -- checkByStatus depends on the fields checked above.
  if hasState and areWhole then checkByStatus(broken, r) end
  return r
end

-- Check that the flags of a state match the fields of the record.
local function checkFlags(broken, r)
  for flag, field in pairs(FLAGGED) do
    if has(r, flag) ~= (redis.call('HEXISTS', r.key, field) == 1) then broken('state', 'and ' .. field .. ' disagree') end
  end
end
