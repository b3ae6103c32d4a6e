// Made by scripts/lua/module.mjs from the .lua files of packages/fsck/src. Do not edit: edit those, and build.
import { lua as store, type ScriptArgument } from '@yardmaster/store';

/** Shared Lua, by name. */
export const lua = {
  hasEnded: `local function hasEnded(r)
  return r.status == 'completed' or r.status == 'dead' or r.status == 'killed'
end`,
  isCallbackOn: `local function isCallbackOn(ends)
  local wanted = {}
  for _, status in ipairs({ 'completed', 'dead', 'killed' }) do
    if string.find(ends, status, 1, true) then wanted[#wanted + 1] = status end
  end
  return #wanted > 0 and ends == table.concat(wanted, ' ') and ends ~= 'completed dead'
end`,
  checkCallback: `local function checkCallback(found, r, base, nowMs)
  local callbacks = base .. 'callbacks'
  local isPending = scoreIn(callbacks, r.id) ~= nil
  if not isPending and not hasEnded(r) then return end
  local hasCallback = hasEnded(r) and wantsCallback(r.status, redis.call('HGET', r.key, 'callbackUrl'), r.callbackOn)
  if isPending and not hasCallback then
    mustNotBeIn(found, callbacks, r.id, hasEnded(r) and 'the job has no callback' or 'the job is ' .. r.status)
  elseif hasCallback and not isPending and (not r.callbackAttempts or r.callbackDueAt or r.callbackLeasedUntil) then
    local detail = r.callbackAttempts and 'its next attempt is due, but it is not pending' or 'it was never attempted, but it is not pending'
    find(found, 'callback_forgotten', callbacks, detail, found.additions, function()
      redis.call('ZREM', callbacks, r.id)
      enqueueCallback({ base = base, id = r.id }, nowMs)
    end)
  end
end`,
  CLOCK_SLACK_MS: `local CLOCK_SLACK_MS = 300000`,
  LONGEST_DELIVERY_MS: `local LONGEST_DELIVERY_MS = 86400000`,
  checkDeadline: `local function checkDeadline(found, r, base, nowMs, deliveryTimeoutMs, retentionMs)
  local deadlines = base .. 'deadlines'
  if r.status == 'scheduled' or r.status == 'pending' then
    return mustNotBeIn(found, deadlines, r.id, 'the job is ' .. r.status)
  end
  local ms = math.ceil((tonumber(r.timeoutSeconds or '300') or 300) * 1000)
  local due, latest = nil, nil
  if r.status == 'delivered' then
    due = r.deliveredAt and math.min(tonumber(r.deliveredAt), nowMs) + (deliveryTimeoutMs > 0 and deliveryTimeoutMs or ms) or nowMs
    latest = nowMs + LONGEST_DELIVERY_MS
  elseif r.status == 'running' then
    local runBy = tonumber(r.runBy or math.huge)
    due, latest = math.min(nowMs + ms, runBy), math.min(nowMs + ms, math.max(runBy, nowMs))
  elseif hasEnded(r) and not r.kept then
    local kept = tonumber(retentionIn(settingsText(base, r.space), r.status, retentionMs))
    due = kept > 0 and nowMs + kept or nil
  end
  local actual = scoreIn(deadlines, r.id)
  if due and not actual then
    find(found, 'deadline_missing', deadlines, 'the job is ' .. r.status, found.additions, function() replaceEntry(deadlines, r.id, formatInteger(due)) end)
  elseif latest and actual > latest + CLOCK_SLACK_MS then
    local detail = 'the job is ' .. r.status .. ', and not due before ' .. formatInteger(actual)
    find(found, 'deadline_late', deadlines, detail, found.additions, function() replaceEntry(deadlines, r.id, formatInteger(due)) end)
  end
end`,
  checkDue: `local function checkDue(found, r, base)
  local due, limit = base .. 'due', startLimit({ attempt = r.attempt or '0' }, r.startBy)
  local function mustBeAt(ms)
    mustBeIn(found, due, r.id, formatInteger(ms))
  end
  if r.status == 'scheduled' then return mustBeAt(math.min(tonumber(r.scheduledFor), limit or math.huge)) end
  if r.status == 'pending' and limit then return mustBeAt(limit) end
  if r.status == 'delivered' and limit and scoreIn(due, r.id) then return mustBeAt(limit) end
  local why = r.status == 'pending' and ', and its start has no time limit' or ''
  mustNotBeIn(found, due, r.id, 'the job is ' .. r.status .. why)
end`,
  checkIndexes: `local function checkIndexes(found, r, base, nowMs)
  local space = base .. 'space:' .. r.space
  mustBeIn(found, space .. '/jobs', r.id, r.order)
  for _, status in ipairs(STATUSES) do
    local index = space .. '/status/' .. status
    if status == r.status then mustBeIn(found, index, r.id, r.order)
    else mustNotBeIn(found, index, r.id, 'the job is ' .. r.status) end
  end
  for tag in string.gmatch(r.tags or '', '[^\\n]+') do mustBeIn(found, space .. '/tag/' .. tag, r.id, r.order) end
  local queues = { space .. '/queue', space .. '/queue/' .. r.name }
  if r.status == 'pending' then return checkQueues(found, r, base, nowMs, queues) end
  for _, queue in ipairs(queues) do mustNotBeIn(found, queue, r.id, 'the job is ' .. r.status) end
  checkOrder(found, base, r.space, tonumber(r.order), nowMs)
end`,
  LAST_ORDER: `local LAST_ORDER = 2 ^ 53`,
  checkOrder: `local function checkOrder(found, base, space, newest, nowMs)
  local spaces = base .. 'spaces'
  local last = scoreIn(spaces, space)
  if last and last >= newest and last < LAST_ORDER then return end
  local kind = not last and 'space_missing' or last < newest and 'space_behind' or 'space_ahead'
  local detail = space .. (last and ' is at ' .. formatInteger(last) or ' has jobs and is not listed')
  find(found, kind, spaces, detail, found.additions, function()
    local top = redis.call('ZREVRANGE', base .. 'space:' .. space .. '/jobs', 0, 0, 'WITHSCORES')
    local order = tonumber(top[2] or 0)
    newest = math.max(newest, nowMs * 1024, order < LAST_ORDER and order or 0)
    replaceEntry(spaces, space, formatInteger(newest))
  end)
end`,
  AT_CREATION: `local AT_CREATION = { delivery_timeout = true, released = true }`,
  mayBeLater: `local function mayBeLater(r)
  if not r.updatedAt then return false end
  local last = stored(redis.call('LINDEX', r.key .. ':events', -1))
  return not last or not AT_CREATION[typeOf(last)]
end`,
  checkQueues: `local function checkQueues(found, r, base, nowMs, queues)
  local order, headStart = tonumber(r.order), tonumber(r.priority or 0) * 1024000
  local last = scoreIn(base .. 'spaces', r.space) or 0
  local newest = math.max(nowMs * 1024 + 1023, last < LAST_ORDER and last or 0)
  local function fits(score)
    local claim = score and score + headStart
    local isLater = claim and claim > order and claim <= newest and mayBeLater(r)
    return (isLater or claim == order) and claim or nil
  end
  local right = fits(scoreIn(queues[1], r.id)) or fits(scoreIn(queues[2], r.id)) or (not mayBeLater(r) and order) or nil
  checkOrder(found, base, r.space, right or order, nowMs)
  local function enter(queue)
    redis.call('ZREM', queue, r.id)
    right = right or tonumber(nextOrder(base, r.space, nowMs * 1024))
    redis.call('ZADD', queue, formatInteger(right - headStart), r.id)
  end
  for _, queue in ipairs(queues) do
    local score = scoreIn(queue, r.id)
    local mayLack = queue == queues[1] and not score and redis.call('HEXISTS', base .. 'space:' .. r.space .. '/paused', r.name) == 1
    if not mayLack and (not score or not right or score ~= right - headStart) then
      local detail = score and 'at ' .. formatInteger(score) .. ', out of order' or 'the job is pending'
      find(found, score and 'entry_misplaced' or 'entry_missing', queue, detail, found.additions, function() enter(queue) end)
    end
  end
end`,
  checkUnique: `local function checkUnique(found, r, base, nowMs)
  if not r.unique then return end
  local job = { base = base, id = r.id, space = r.space, name = r.name, status = r.status, order = r.order }
  local index, field, lasts = uniqueEntry(job, r.unique)
  local isNamed = stored(redis.call('HGET', index, field)) == r.id
  if occupiesUnique(job, r.unique, r.uniqueFreed, nowMs) then
    if isNamed then return end
    local other, isOccupied = uniqueHolder(job, r.unique, nowMs)
    if isOccupied then return find(found, 'unique_twice', index, 'job ' .. other.id .. ' occupies the key too') end
    find(found, 'entry_missing', index, 'the job occupies its unique key', found.additions, function()
      redis.call('HDEL', index, field)
      redis.call('HSET', index, field, r.id)
    end)
  elseif isNamed and (lasts ~= 'expired' or r.uniqueFreed) then
    local why = r.uniqueFreed and 'the job has freed its unique key' or 'the job is ' .. r.status
    find(found, 'entry_wrong', index, why, found.removals, function() redis.call('HDEL', index, field) end)
  end
end`,
  isUnique: `local function isUnique(unique)
  local lasts, onConflict, ttlSeconds, key = string.match(unique, '^(%l+) (%l+) (%d+) (.+)$')
  if not key or (lasts == 'expired') ~= (tonumber(ttlSeconds) > 0) then return false end
  local isKnown = lasts == 'ended' or lasts == 'started' or lasts == 'expired'
  return isKnown and (onConflict == 'return' or onConflict == 'reject' or onConflict == 'replace')
end`,
  findings: `local function findings()
  return { flat = {}, removals = {}, additions = {} }
end`,
  find: `local function find(found, kind, key, detail, repairBy, repair)
  local flat = found.flat
  for _, word in ipairs({ kind, key, detail, '' }) do flat[#flat + 1] = word end
  if repair then repairBy[#repairBy + 1] = { outcomeAt = #flat, run = repair } end
end`,
  messageOf: `local function messageOf(fault)
  return type(fault) == 'table' and fault.err or tostring(fault)
end`,
  repairAll: `local function repairAll(found)
  for _, fixes in ipairs({ found.removals, found.additions }) do
    for _, fix in ipairs(fixes) do
      local isRepaired, fault = pcall(fix.run)
      found.flat[fix.outcomeAt] = isRepaired and 'repaired' or messageOf(fault)
    end
  end
end`,
  MOST_CALLBACKS: `local MOST_CALLBACKS = 20`,
  happened: `local function happened(r)
  if r.status == 'dead' or r.status == 'killed' then return 'the job is ' .. r.status end
  if r.hasRetried then return 'an attempt has failed' end
  if r.scheduledFor and r.status ~= 'scheduled' then return 'it was scheduled' end
  if redis.call('HEXISTS', r.key, 'progress') + redis.call('HEXISTS', r.key, 'checkpoint') > 0 then return 'its worker has reported' end
  return r.callbackAttempts and 'its callback was attempted'
end`,
  checkList: `local function checkList(found, r, history)
  local first = redis.call('LINDEX', history, 0)
  for i = 1, MOST_CALLBACKS do
    local entry = stored(redis.call('LINDEX', history, -i))
    local status = entry and statusAfter(entry)
    if entry and not status then return find(found, 'history_unreadable', history, 'entry ' .. -i .. ' is not valid') end
    if not entry or status ~= '' then
      local isCreated = not r.eventsDropped and r.status ~= 'scheduled'
      local shown = entry and status or isCreated and 'pending' or r.status
      if IS_STATUS[r.status or ''] and shown ~= r.status then
        return find(found, 'history_disagrees', history, 'the status is ' .. r.status .. ' in the record and ' .. shown .. ' in the history')
      end
      break
    end
  end
  local begins = typeOf(first)
  if not r.eventsDropped and not FIRST[begins] then
    find(found, 'history_incomplete', history, 'it begins with ' .. begins)
  end
end`,
  checkLists: `local function checkLists(found, r)
  local history, logs = r.key .. ':events', r.key .. ':logs'
  if redis.call('EXISTS', history) == 1 then
    checkList(found, r, history)
  elseif r.eventsDropped then
    find(found, 'entries_lost', history, 'it has lost its oldest ' .. r.eventsDropped .. ' events, and the others too')
  elseif IS_STATUS[r.status or ''] and happened(r) then
    find(found, 'history_incomplete', history, 'it is missing, although ' .. happened(r))
  end
  if r.logsDropped and redis.call('EXISTS', logs) == 0 then
    find(found, 'entries_lost', logs, 'it has lost its oldest ' .. r.logsDropped .. ' entries, and the others too')
  end
end`,
  typeOf: `local function typeOf(entry)
  return string.match(entry, '^%["([%l_]+)",%d+[,%]]') or 'none'
end`,
  FIRST: `local FIRST = { ready = true, rescheduled = true, requeued = true, replaced = true, delivered = true, dead = true, killed = true }`,
  statusAfter: `local function statusAfter(entry)
  local statuses = STATUS_AFTER[typeOf(entry)]
  if not statuses or not string.find(statuses, 'scheduled', 1, true) then return statuses and string.match(statuses, '^%l*') end
  local isScheduled = string.find(entry, '"scheduledFor":"[^"]+"}%]$') or string.find(entry, '^%["rescheduled",%d+,{"scheduledFor":"')
  return isScheduled and 'scheduled' or 'pending'
end`,
  scoreIn: `local function scoreIn(index, member)
  return tonumber(stored(redis.call('ZSCORE', index, member)) or '')
end`,
  mustBeIn: `local function mustBeIn(found, index, id, score)
  local actual = scoreIn(index, id)
  if actual == tonumber(score) then return end
  local kind = actual and 'entry_misplaced' or 'entry_missing'
  local detail = actual and ('at ' .. formatInteger(actual) .. ' instead of ' .. score) or ('belongs at ' .. score)
  find(found, kind, index, detail, found.additions, function() replaceEntry(index, id, score) end)
end`,
  mustNotBeIn: `local function mustNotBeIn(found, index, id, why)
  if not scoreIn(index, id) then return end
  find(found, 'entry_wrong', index, why, found.removals, function() redis.call('ZREM', index, id) end)
end`,
  xor: `local function xor(a, b)
  local sum = 0
  for bit = 0, 5 do
    if a % 2 ~= b % 2 then sum = sum + 2 ^ bit end
    a, b = math.floor(a / 2), math.floor(b / 2)
  end
  return sum
end`,
  known: `local known = {}`,
  partitionOf: `local function partitionOf(space)
  if not known[space] then
    local hash = 0x811c9dc5 % 64
    for i = 1, #space do hash = xor(hash, string.byte(space, i) % 64) * (0x01000193 % 64) % 64 end
    known[space] = string.format('%02x', hash)
  end
  return known[space]
end`,
  isSpaceOf: `local function isSpaceOf(base, space)
  return #space <= 128 and string.find(space, '^[%w%._:%-]+$') ~= nil and string.sub(base, -5) == '{' .. partitionOf(space) .. '}:'
end`,
  WHOLE: `local WHOLE = { 'attempt', 'maxRetries', 'deliveryTimeouts', 'takeBacks', 'missedWindowMs', 'eventsDropped', 'logsDropped', 'deliveredAt', 'startedAt', 'updatedAt',
  'scheduledFor', 'startBy', 'runBy', 'callbackAttempts', 'callbackRound', 'callbackDueAt', 'callbackLeasedUntil' }`,
  FIELDS: `local FIELDS = { 'status', 'space', 'name', 'order', 'timeoutSeconds', 'unique', 'uniqueFreed', 'kept', 'fingerprint', 'retry', 'maxRunSeconds', 'startWithinSeconds',
  'priority', 'callbackOn', 'tags', unpack(WHOLE) }`,
  checkedRecord: `local function checkedRecord(found, base, id)
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
  check('timeoutSeconds', (tonumber(r.timeoutSeconds or '300') or 0) > 0)
  for _, field in ipairs({ 'uniqueFreed', 'kept' }) do check(field, not r[field] or r[field] == '1') end
  check('fingerprint', not r.fingerprint or #r.fingerprint == 22 and string.find(r.fingerprint, '^[%w_-]+$'))
  if not check('unique', not r.unique or isUnique(r.unique)) then r.unique = nil end
  if not check('tags', not r.tags or areTags(r.tags)) then r.tags = nil end
  r.isCallbackKnown = check('callbackOn', not r.callbackOn or isCallbackOn(r.callbackOn))
  local hasPlaces = checkTiming(check, r)
  r.isPlaceable = hasStatus and hasSpace and hasName and hasOrder and hasPlaces
  if hasStatus and areWhole then checkByStatus(broken, r) end
  return r
end`,
  NEEDS: `local NEEDS = { scheduled = { 'scheduledFor' }, delivered = { 'deliveredAt' }, running = { 'deliveredAt', 'startedAt' }, completed = { 'deliveredAt', 'startedAt' } }`,
  WAITING_LACKS: `local WAITING_LACKS = { 'deliveredAt', 'startedAt', 'runBy' }`,
  LACKS: `local LACKS = { scheduled = WAITING_LACKS, pending = WAITING_LACKS, delivered = { 'startedAt', 'runBy' } }`,
  checkByStatus: `local function checkByStatus(broken, r)
  local attempt, status = tonumber(r.attempt or 0), r.status
  local isWaiting = status == 'scheduled' or status == 'pending'
  r.hasTimes = status ~= 'scheduled' or r.scheduledFor ~= nil
  local wasAcked = not r.deliveryTimeouts and tonumber(r.startBy or 0) == 0
  local hasRun = status == 'running' or status == 'completed' or (status == 'dead' and wasAcked)
  local isReplaceable = r.unique and string.find(r.unique, '^%l+ replace ') ~= nil
  local most = isReplaceable and math.huge or tonumber(r.maxRetries or '3') + 1
  if attempt > most or (hasRun and attempt == 0) then broken('attempt')
  else r.hasRetried = attempt > (hasRun and 1 or 0) end
  if not isWaiting and not r.updatedAt then broken('updatedAt') end
  for _, field in ipairs(NEEDS[status] or {}) do if not r[field] then broken(field) end end
  for _, field in ipairs(LACKS[status] or {}) do if r[field] then broken(field, 'must be absent, because the job is ' .. status) end end
  if status == 'completed' and redis.call('HEXISTS', r.key, 'result') == 0 then broken('result') end
end`,
  areTags: `local function areTags(tags)
  local count, seen = 0, {}
  for tag in string.gmatch(tags .. '\\n', '([^\\n]*)\\n') do
    if tag == '' or seen[tag] or string.find(tag, '[%z\\1-\\31\\127]') then return false end
    count, seen[tag] = count + 1, true
  end
  return count <= 10
end`,
  LONGEST_DELAY_SECONDS: `local LONGEST_DELAY_SECONDS = 604800`,
  MOST_DELAYS: `local MOST_DELAYS = 20`,
  LARGEST_FACTOR: `local LARGEST_FACTOR = 10`,
  LONGEST_RUN_SECONDS: `local LONGEST_RUN_SECONDS = 604800`,
  LONGEST_START_SECONDS: `local LONGEST_START_SECONDS = 31622400`,
  LARGEST_PRIORITY: `local LARGEST_PRIORITY = 604800`,
  numberIn: `local function numberIn(text, least, most)
  local number = string.find(text, '^%d[%d.e+-]*$') and tonumber(text)
  return number and number >= least and number <= most and number or nil
end`,
  isLimit: `local function isLimit(seconds, by, longest)
  if not seconds then return not by end
  return (numberIn(seconds, 0, longest) or 0) > 0
end`,
  isPriority: `local function isPriority(priority)
  return string.find(priority, '^%-?[1-9]%d*$') ~= nil and math.abs(tonumber(priority)) <= LARGEST_PRIORITY
end`,
  isRetry: `local function isRetry(retry)
  local delays, factor, longest, jitter = string.match(retry, '^(%S+) (%S+) (%S+) (%S+)$')
  if not delays then return false end
  local count = 0
  for delay in string.gmatch(delays .. ',', '([^,]*),') do
    if not numberIn(delay, 0, LONGEST_DELAY_SECONDS) then return false end
    count = count + 1
  end
  local largestFactor = count == 1 and LARGEST_FACTOR or 1
  return count <= MOST_DELAYS and numberIn(factor, 1, largestFactor) and numberIn(longest, 0, LONGEST_DELAY_SECONDS) and numberIn(jitter, 0, 1)
end`,
  checkTiming: `local function checkTiming(check, r)
  check('retry', not r.retry or isRetry(r.retry))
  check('maxRunSeconds', isLimit(r.maxRunSeconds, r.runBy, LONGEST_RUN_SECONDS))
  check('startWithinSeconds', isLimit(r.startWithinSeconds, r.startBy, LONGEST_START_SECONDS))
  return check('priority', not r.priority or isPriority(r.priority))
end`,
};

export const check_jobs = {
  name: 'check_jobs', sha1: '3a3ed5da60d7f453cd6c76704eb9295b1edfa118',
  keyCount: 1,
  parameters: ({ keys, args, rest }: { keys: { deadlines: string }; args: { base: ScriptArgument; isRepairing: ScriptArgument; deliveryTimeoutMs: ScriptArgument; retentionMs: ScriptArgument }; rest: readonly ScriptArgument[] }): ScriptArgument[] => [keys.deadlines, args.base, args.isRepairing, args.deliveryTimeoutMs, args.retentionMs, ...rest],
  decode: (r: unknown[]) => ({ jobs: r.slice(1) as string[][] }),
  text: `${store.now}\n${lua.findings}\n${lua.WHOLE}\n${lua.FIELDS}\n${store.stored}\n${lua.find}\n${store.IS_STATUS}\n${lua.known}\nlocal function partitionOf(space)
  if not known[space] then
${lua.xor}\n    local hash = 0x811c9dc5 % 64
    for i = 1, #space do hash = xor(hash, string.byte(space, i) % 64) * (0x01000193 % 64) % 64 end
    known[space] = string.format('%02x', hash)
  end
  return known[space]
end
${lua.isSpaceOf}\n${lua.isUnique}\n${lua.areTags}\n${lua.isCallbackOn}\n${lua.numberIn}\n${lua.LONGEST_DELAY_SECONDS}\n${lua.LARGEST_FACTOR}\n${lua.MOST_DELAYS}\n${lua.isRetry}\n${lua.isLimit}\n${lua.LONGEST_RUN_SECONDS}\n${lua.LONGEST_START_SECONDS}\n${lua.LARGEST_PRIORITY}\n${lua.isPriority}\n${lua.checkTiming}\n${lua.NEEDS}\n${lua.WAITING_LACKS}\n${lua.LACKS}\n${lua.checkByStatus}\n${lua.checkedRecord}\n${lua.scoreIn}\n${store.formatInteger}\n${store.replaceEntry}\n${lua.mustBeIn}\n${store.STATUSES}\n${lua.mustNotBeIn}\n${lua.LAST_ORDER}\n${lua.AT_CREATION}\n${lua.typeOf}\n${lua.mayBeLater}\n${lua.checkOrder}\n${store.nextOrder}\n${lua.checkQueues}\n${lua.checkIndexes}\n${store.uniqueEntry}\n${store.occupiesUnique}\nlocal function checkUnique(found, r, base, nowMs)
  if not r.unique then return end
  local job = { base = base, id = r.id, space = r.space, name = r.name, status = r.status, order = r.order }
  local index, field, lasts = uniqueEntry(job, r.unique)
  local isNamed = stored(redis.call('HGET', index, field)) == r.id
  if occupiesUnique(job, r.unique, r.uniqueFreed, nowMs) then
${store.loadJob}\n${store.uniqueHolder}\n    if isNamed then return end
    local other, isOccupied = uniqueHolder(job, r.unique, nowMs)
    if isOccupied then return find(found, 'unique_twice', index, 'job ' .. other.id .. ' occupies the key too') end
    find(found, 'entry_missing', index, 'the job occupies its unique key', found.additions, function()
      redis.call('HDEL', index, field)
      redis.call('HSET', index, field, r.id)
    end)
  elseif isNamed and (lasts ~= 'expired' or r.uniqueFreed) then
    local why = r.uniqueFreed and 'the job has freed its unique key' or 'the job is ' .. r.status
    find(found, 'entry_wrong', index, why, found.removals, function() redis.call('HDEL', index, field) end)
  end
end
${lua.hasEnded}\n${store.retentionIn}\n${store.settingsText}\n${lua.CLOCK_SLACK_MS}\nlocal function checkDeadline(found, r, base, nowMs, deliveryTimeoutMs, retentionMs)
  local deadlines = base .. 'deadlines'
  if r.status == 'scheduled' or r.status == 'pending' then
    return mustNotBeIn(found, deadlines, r.id, 'the job is ' .. r.status)
  end
  local ms = math.ceil((tonumber(r.timeoutSeconds or '300') or 300) * 1000)
  local due, latest = nil, nil
  if r.status == 'delivered' then
${lua.LONGEST_DELIVERY_MS}\n    due = r.deliveredAt and math.min(tonumber(r.deliveredAt), nowMs) + (deliveryTimeoutMs > 0 and deliveryTimeoutMs or ms) or nowMs
    latest = nowMs + LONGEST_DELIVERY_MS
  elseif r.status == 'running' then
    local runBy = tonumber(r.runBy or math.huge)
    due, latest = math.min(nowMs + ms, runBy), math.min(nowMs + ms, math.max(runBy, nowMs))
  elseif hasEnded(r) and not r.kept then
    local kept = tonumber(retentionIn(settingsText(base, r.space), r.status, retentionMs))
    due = kept > 0 and nowMs + kept or nil
  end
  local actual = scoreIn(deadlines, r.id)
  if due and not actual then
    find(found, 'deadline_missing', deadlines, 'the job is ' .. r.status, found.additions, function() replaceEntry(deadlines, r.id, formatInteger(due)) end)
  elseif latest and actual > latest + CLOCK_SLACK_MS then
    local detail = 'the job is ' .. r.status .. ', and not due before ' .. formatInteger(actual)
    find(found, 'deadline_late', deadlines, detail, found.additions, function() replaceEntry(deadlines, r.id, formatInteger(due)) end)
  end
end
${store.startLimit}\n${lua.checkDue}\n${store.wantsCallback}\n${store.enqueueCallback}\n${lua.checkCallback}\n${lua.happened}\nlocal function checkLists(found, r)
  local history, logs = r.key .. ':events', r.key .. ':logs'
  if redis.call('EXISTS', history) == 1 then
${lua.MOST_CALLBACKS}\n${store.STATUS_AFTER}\n${lua.statusAfter}\n${lua.FIRST}\n${lua.checkList}\n    checkList(found, r, history)
  elseif r.eventsDropped then
    find(found, 'entries_lost', history, 'it has lost its oldest ' .. r.eventsDropped .. ' events, and the others too')
  elseif IS_STATUS[r.status or ''] and happened(r) then
    find(found, 'history_incomplete', history, 'it is missing, although ' .. happened(r))
  end
  if r.logsDropped and redis.call('EXISTS', logs) == 0 then
    find(found, 'entries_lost', logs, 'it has lost its oldest ' .. r.logsDropped .. ' entries, and the others too')
  end
end
${lua.messageOf}\n${lua.repairAll}\nlocal deadlines = KEYS[1]
local base, isRepairing, deliveryTimeoutMs, retentionMs = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local ids = { unpack(ARGV, 5) }
local nowMs = now()
local function examine(id)
  local found = findings()
  local r = checkedRecord(found, base, id)
  if not r then return {} end
  if r.isPlaceable then
    checkIndexes(found, r, base, nowMs)
    checkUnique(found, r, base, nowMs)
    checkDeadline(found, r, base, nowMs, tonumber(deliveryTimeoutMs), tonumber(retentionMs))
    if r.hasTimes then checkDue(found, r, base) end
    if r.isCallbackKnown then checkCallback(found, r, base, nowMs) end
  end
  checkLists(found, r)
  if isRepairing == '1' then repairAll(found) end
  return found.flat
end
local faulty = {}
for _, id in ipairs(ids) do
  local isDone, faults = pcall(examine, id)
  if not isDone then faults = { 'job_unreadable', base .. 'job:' .. id, messageOf(faults), '' } end
  if #faults > 0 then faulty[#faulty + 1] = { id, unpack(faults) } end
end
return { 'OK', unpack(faulty) }
`,
} as const;

export const check_names = {
  name: 'check_names', sha1: 'a52252eff7eff8e22d13314b7fcb874b73e3b593',
  keyCount: 1,
  parameters: ({ keys, args, rest }: { keys: { names: string }; args: { base: ScriptArgument; space: ScriptArgument; isRepairing: ScriptArgument; afterOrder: ScriptArgument; counted: ScriptArgument }; rest: readonly ScriptArgument[] }): ScriptArgument[] => [keys.names, args.base, args.space, args.isRepairing, args.afterOrder, args.counted, ...rest],
  decode: (r: unknown[]) => (r[0] === 'OK' ? { outcome: 'OK' as const, wrong: r[1] as string[] } : { outcome: 'CHANGED' as const }),
  text: `${store.stored}\n${lua.scoreIn}\n${store.formatInteger}\n${lua.messageOf}\nlocal names = KEYS[1]
local base, space, isRepairing, afterOrder, counted = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local counts = { unpack(ARGV, 6) }
local jobs = base .. 'space:' .. space .. '/jobs'
local since = redis.call('ZRANGEBYSCORE', jobs, '(' .. afterOrder, '+inf', 'LIMIT', 0, 101)
if #since > 100 or redis.call('ZCARD', jobs) ~= tonumber(counted) + #since then return { 'CHANGED' } end
local more = {}
for _, id in ipairs(since) do
  local name = stored(redis.call('HGET', base .. 'job:' .. id, 'name')) or ''
  more[name] = (more[name] or 0) + 1
end
local wrong = {}
for i = 1, #counts, 2 do
  local name, right = counts[i], tonumber(counts[i + 1]) + (more[counts[i]] or 0)
  local kept = scoreIn(names, name)
  if (kept or 0) ~= right or (kept and right == 0) then
    local outcome = ''
    if isRepairing == '1' then
      local isRepaired, fault = pcall(function()
        redis.call('ZREM', names, name)
        if right > 0 then redis.call('ZADD', names, formatInteger(right), name) end
      end)
      outcome = isRepaired and 'repaired' or messageOf(fault)
    end
    for _, word in ipairs({ name, formatInteger(kept or 0), formatInteger(right), outcome }) do wrong[#wrong + 1] = word end
  end
end
return { 'OK', { unpack(wrong) } }
`,
} as const;

export const check_operation = {
  name: 'check_operation', sha1: '32c24602c8ac89a8322bc6cda904e8278a181f9f',
  keyCount: 1,
  parameters: ({ keys, args }: { keys: { record: string }; args: { base: ScriptArgument; id: ScriptArgument; isRepairing: ScriptArgument } }): ScriptArgument[] => [keys.record, args.base, args.id, args.isRepairing],
  decode: (r: unknown[]) => ({ state: r[1] as string }),
  text: `${store.stored}\n${lua.scoreIn}\n${store.now}\nlocal record = KEYS[1]
local base, id, isRepairing = ARGV[1], ARGV[2], ARGV[3]
local running, status = base .. 'operations', redis.call('HGET', record, 'status')
if status ~= 'running' or scoreIn(running, id) then return { 'OK', '' } end
if isRepairing ~= '1' then return { 'OK', 'stopped' } end
local _, nowText = now()
redis.call('ZADD', running, nowText, id)
return { 'OK', 'repaired' }
`,
} as const;

export const check_orphan = {
  name: 'check_orphan', sha1: '1192f316d6167e82c1e762ba7127f66deda1dd63',
  keyCount: 1,
  parameters: ({ keys, args, rest }: { keys: { key: string }; args: { isRepairing: ScriptArgument }; rest: readonly ScriptArgument[] }): ScriptArgument[] => [keys.key, args.isRepairing, ...rest],
  decode: (r: unknown[]) => ({ state: r[1] as string }),
  text: `local key = KEYS[1]
local isRepairing = ARGV[1]
local owners = { unpack(ARGV, 2) }
if redis.call('EXISTS', unpack(owners)) > 0 or redis.call('EXISTS', key) == 0 then return { 'OK', '' } end
if isRepairing ~= '1' then return { 'OK', 'orphan' } end
redis.call('UNLINK', key)
return { 'OK', 'repaired' }
`,
} as const;

export const count_names = {
  name: 'count_names', sha1: 'f463da8dfdd298f49ffae869ecb0d34978912c61',
  keyCount: 1,
  parameters: ({ keys, args }: { keys: { jobs: string }; args: { base: ScriptArgument; afterOrder: ScriptArgument; limit: ScriptArgument } }): ScriptArgument[] => [keys.jobs, args.base, args.afterOrder, args.limit],
  decode: (r: unknown[]) => ({ counted: Number(r[1]), lastOrder: r[2] as string, names: r[3] as string[] }),
  text: `${store.stored}\nlocal jobs = KEYS[1]
local base, afterOrder, limit = ARGV[1], ARGV[2], ARGV[3]
local page = redis.call('ZRANGEBYSCORE', jobs, '(' .. afterOrder, '+inf', 'WITHSCORES', 'LIMIT', 0, limit)
local names = {}
for i = 1, #page, 2 do names[#names + 1] = stored(redis.call('HGET', base .. 'job:' .. page[i], 'name')) or '' end
return { 'OK', #names, page[#page] or afterOrder, { unpack(names) } }
`,
} as const;

export const check_entries = {
  name: 'check_entries', sha1: '26b9c398bdb6b87c1bc05a4f94fdd57913d87bd1',
  keyCount: 1,
  parameters: ({ keys, args, rest }: { keys: { index: string }; args: { base: ScriptArgument; isRepairing: ScriptArgument; space: ScriptArgument; name: ScriptArgument; tag: ScriptArgument }; rest: readonly ScriptArgument[] }): ScriptArgument[] => [keys.index, args.base, args.isRepairing, args.space, args.name, args.tag, ...rest],
  decode: (r: unknown[]) => ({ strays: r[1] as string[] }),
  text: `${store.stored}\n${lua.known}\nlocal function partitionOf(space)
  if not known[space] then
${lua.xor}\n    local hash = 0x811c9dc5 % 64
    for i = 1, #space do hash = xor(hash, string.byte(space, i) % 64) * (0x01000193 % 64) % 64 end
    known[space] = string.format('%02x', hash)
  end
  return known[space]
end
${lua.isSpaceOf}\n${store.hasTags}\n${lua.scoreIn}\nlocal index = KEYS[1]
local base, isRepairing, space, name, tag = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local ids = { unpack(ARGV, 6) }
local strays = {}
local function examine(id)
  local key = base .. 'job:' .. id
  local v = redis.call('HMGET', key, 'space', 'name', 'tags')
  local ofSpace, ofName = stored(v[1]), stored(v[2])
  if not ofSpace and redis.call('EXISTS', key) == 0 then return 'the job does not exist' end
  if not ofSpace or not isSpaceOf(base, ofSpace) then return nil end
  if space ~= '' and ofSpace ~= space then return 'the job is of space ' .. ofSpace end
  if name ~= '' and ofName and ofName ~= name then return 'the job is named ' .. ofName end
  if tag ~= '' and not hasTags(v[3], tag) then return 'the job does not have this tag' end
end
for _, id in ipairs(ids) do
  local isDone, why = pcall(examine, id)
  if isDone and why and scoreIn(index, id) then
    local outcome = ''
    if isRepairing == '1' then
      redis.call('ZREM', index, id)
      outcome = 'repaired'
    end
    for _, word in ipairs({ id, why, outcome }) do strays[#strays + 1] = word end
  end
end
return { 'OK', { unpack(strays) } }
`,
} as const;

export const check_unique_entries = {
  name: 'check_unique_entries', sha1: '2ae6355648c6772e8dfcb493584e5e823b70abd5',
  keyCount: 1,
  parameters: ({ keys, args, rest }: { keys: { index: string }; args: { base: ScriptArgument; isRepairing: ScriptArgument; space: ScriptArgument }; rest: readonly ScriptArgument[] }): ScriptArgument[] => [keys.index, args.base, args.isRepairing, args.space, ...rest],
  decode: (r: unknown[]) => ({ strays: r[1] as string[] }),
  text: `${store.stored}\n${store.uniqueEntry}\nlocal index = KEYS[1]
local base, isRepairing, space = ARGV[1], ARGV[2], ARGV[3]
local entries = { unpack(ARGV, 4) }
local strays = {}
local function examine(field, id)
  local key = base .. 'job:' .. id
  local v = redis.call('HMGET', key, 'space', 'name', 'unique')
  local ofSpace, ofName, unique = stored(v[1]), stored(v[2]), stored(v[3])
  if not ofSpace then return redis.call('EXISTS', key) == 0 and 'the job does not exist' or nil end
  if ofSpace ~= space then return 'the job is of space ' .. ofSpace end
  local _, itsField = uniqueEntry({ base = base, space = space, name = ofName or '' }, unique or '')
  if itsField ~= field then return 'the job does not have this unique key' end
end
for i = 1, #entries, 2 do
  local field, id = entries[i], entries[i + 1]
  local isDone, why = pcall(examine, field, id)
  if isDone and why and stored(redis.call('HGET', index, field)) == id then
    local outcome = ''
    if isRepairing == '1' then
      redis.call('HDEL', index, field)
      outcome = 'repaired'
    end
    for _, word in ipairs({ id, why, outcome }) do strays[#strays + 1] = word end
  end
end
return { 'OK', { unpack(strays) } }
`,
} as const;

export const check_paused = {
  name: 'check_paused', sha1: '57ce64f72a5cbf6ca406c927dff76af72bbd9f3a',
  keyCount: 1,
  parameters: ({ keys, args }: { keys: { paused: string }; args: { base: ScriptArgument; isRepairing: ScriptArgument; space: ScriptArgument } }): ScriptArgument[] => [keys.paused, args.base, args.isRepairing, args.space],
  decode: (r: unknown[]) => ({ found: r[1] as string[] }),
  text: `${lua.findings}\n${lua.find}\n${store.stored}\n${lua.scoreIn}\n${lua.messageOf}\n${lua.repairAll}\nlocal paused = KEYS[1]
local base, isRepairing, space = ARGV[1], ARGV[2], ARGV[3]
local found, hasNames = findings(), false
local fields = redis.call('HGETALL', paused)
for i = 1, #fields, 2 do
  local name, value = fields[i], fields[i + 1]
  hasNames = hasNames or name ~= ''
  if value ~= '1' and (name == '' or not string.find(value, '^>')) then
    find(found, 'pause_broken', paused, '"' .. name .. '" is "' .. value .. '"', found.additions, function()
      redis.call('HDEL', paused, name)
      if name ~= '' then redis.call('HSET', paused, name, '>-inf') end
    end)
  end
end
if hasNames and not scoreIn(base .. 'pauses', space) then
${store.replaceEntry}\n${store.formatInteger}\n${store.now}\n  find(found, 'pause_forgotten', base .. 'pauses', space .. ' has paused names', found.additions, function()
    replaceEntry(base .. 'pauses', space, formatInteger(now()))
  end)
end
if isRepairing == '1' then repairAll(found) end
return { 'OK', { unpack(found.flat) } }
`,
} as const;

export const check_spaces = {
  name: 'check_spaces', sha1: 'be90fe7fcab0792becde13ecaa2438adf1adaa47',
  keyCount: 1,
  parameters: ({ keys, args, rest }: { keys: { spaces: string }; args: { base: ScriptArgument; isRepairing: ScriptArgument }; rest: readonly ScriptArgument[] }): ScriptArgument[] => [keys.spaces, args.base, args.isRepairing, ...rest],
  decode: (r: unknown[]) => ({ empty: r[1] as string[] }),
  text: `${store.STATUSES}\nlocal spaces = KEYS[1]
local base, isRepairing = ARGV[1], ARGV[2]
local ids = { unpack(ARGV, 3) }
local empty = {}
for _, id in ipairs(ids) do
  local space = base .. 'space:' .. id
  local keys = { space .. '/jobs', space .. '/queue' }
  for _, status in ipairs(STATUSES) do keys[#keys + 1] = space .. '/status/' .. status end
  if redis.call('EXISTS', unpack(keys)) == 0 and redis.call('ZSCORE', spaces, id) then
    local outcome = ''
    if isRepairing == '1' then
      redis.call('ZREM', spaces, id)
      redis.call('UNLINK', space .. '/names')
      outcome = 'repaired'
    end
    empty[#empty + 1] = id
    empty[#empty + 1] = outcome
  end
end
return { 'OK', { unpack(empty) } }
`,
} as const;
