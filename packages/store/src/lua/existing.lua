-- Read fields of a record. `names` are separated by blanks.
local function valuesOf(key, names)
  local list = {}
  for name in string.gmatch(names, '%S+') do list[#list + 1] = name end
  return redis.call('HMGET', key, unpack(list))
end

-- Return the reply to a create that must not create its job: the job exists, another job occupies its unique key, or the space
-- is full. Otherwise return nil, when the job becomes claimable (see timeOf), and the previous holder of the unique key: false
-- for none, nil without `unique`. The fingerprint is then added to the fields.
--   extras   `<delay> <limits> <fingerprint> <names of the fields to return>`, with `-` for none:
--            delay: see timeOf; limits: see refusalOfSpace; fingerprint: of a request with an idempotency key
local function existingFor(job, nowMs, options, extras, fields)
  local delay, limits, fingerprint, shown = string.match(extras, '^(%S+) (%S+) (%S+) (.*)$')
  if delay == '-' then delay = '' end
  if fingerprint ~= '-' then
    local v = redis.call('HMGET', job.key, 'state', 'fingerprint')
    if v[1] and v[2] ~= fingerprint then return { 'IDEMPOTENCY_MISMATCH' } end
    if v[1] then return { 'REPLAYED', valuesOf(job.key, shown) } end
  end

  takeFields(job, fields)
  local other, isOccupied = nil, nil
  if job.unique then other, isOccupied = uniqueHolder(job, job.unique, nowMs) end
  if isOccupied then
    local onConflict = string.match(job.unique, '^%l+ (%l+)')
    if onConflict == 'reject' then return { 'NOT_UNIQUE', other.id, other.status } end
    local isReplaced = onConflict == 'replace' and (other.status == 'pending' or other.status == 'scheduled')
    if isReplaced and knownFull then return { 'STORAGE_FULL' } end
    if isReplaced and string.find(limits, 'b') and isSpaceFull(other) then return { 'SPACE_FULL', 'bytes' } end
    if isReplaced then replaceJob(other, nowMs, options, fields, delay) end
    local values = valuesOf(other.key, shown)
    return isReplaced and { 'REPLACED', other.id, values, other.status } or { 'RETURNED', other.id, values }
  end

  if limits ~= '-' then
    local refusal = refusalOfSpace(job, limits, fields)
    if refusal then return refusal end
  end
  if fingerprint ~= '-' then fields[#fields + 1], fields[#fields + 2] = 'fingerprint', fingerprint end
  if job.unique then other = other or false end
  return nil, timeOf(delay, nowMs), other
end
