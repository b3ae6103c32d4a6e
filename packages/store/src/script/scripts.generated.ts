// Made by scripts/lua/module.mjs from the .lua files of packages/store/src. Do not edit: edit those, and build.
import type { Status } from '@yardmaster/protocol';
import type { ScriptArgument } from './run-script.js';

/** Shared Lua, by name. */
export const lua = {
  STATUSES: `local STATUSES = { 'scheduled', 'pending', 'delivered', 'running', 'completed', 'dead', 'killed' }`,
  IS_STATUS: `local IS_STATUS = { scheduled = true, pending = true, delivered = true, running = true, completed = true, dead = true, killed = true }`,
  STATUS_AFTER: `local STATUS_AFTER = { callback_sent = '', callback_failed = '', ready = 'pending', dead = 'dead dead dead dead dead dead', delivered = 'delivered delivered', acked = 'running', delivery_timeout = 'pending', progress = 'running', checkpoint = 'running', event = 'running', completed = 'completed', retried = 'pending scheduled pending scheduled', released = 'pending scheduled', killed = 'killed', replaced = 'pending scheduled', rescheduled = 'pending scheduled', requeued = 'pending scheduled' }`,
  markDelivered: `local function markDelivered(job, nowMs, at, deliveryTimeoutMs, eventsPerJob, ...)
  moveToStatusIndex(job, 'delivered')
  openWindow(job, nowMs, deliveryMs(job, deliveryTimeoutMs))
  recordEvent(job, at, 'delivered', 'delivered', 'null', eventsPerJob, 'deliveredAt', at, ...)
end`,
  markRunning: `local function markRunning(job, nowMs, at, _, eventsPerJob, ...)
  startAttempt(job, nowMs, job.unique, job.maxRunSeconds, job.startBy, job.deliveryTimeouts)
  local seq = appendDelivery(job, at, eventsPerJob)
  redis.call('HSET', job.key, 'status', 'running', 'updatedAt', at, 'deliveredAt', at, 'startedAt', at,
    'attempt', formatInteger(job.attempt + 1), ...)
  publish(job, formatInteger(seq), 'delivered', 'delivered', at, 'null')
  publish(job, formatInteger(seq + 1), 'acked', 'running', at, 'null')
end`,
  appendClaimed: `local function appendClaimed(values, job, nowMs)
  local n = #values
  values[n + 1], values[n + 2], values[n + 3], values[n + 4], values[n + 5] = job.id, job.name, job.timeoutSeconds, job.maxRetries, job.attempt
  values[n + 6], values[n + 7], values[n + 8], values[n + 9] = job.order, job.payload or false, job.checkpoint or false, job.takeBacks or false
  values[n + 10], values[n + 11] = job.updatedAt or false, n == 0 and nowMs
end`,
  nextTakeBacks: `local function nextTakeBacks(takeBacks)
  return formatInteger(tonumber(stored(takeBacks) or 0) + 1)
end`,
  missedWindow: `local function missedWindow(job)
  if job.status ~= 'pending' then return nil end
  local last = redis.call('LINDEX', job.key .. ':events', -1)
  local ms = stored(redis.call('HGET', job.key, 'missedWindowMs'))
  if not ms or ms == '0' or not string.find(stored(last) or '', '^%["delivery_timeout"') then return nil end
  return string.format('Job was not acked within %g s of its delivery and is pending again', ms / 1000)
end`,
  tokenFields: `local function tokenFields(token)
  if token ~= '' then return 'takeBacks', 'deliveryTimeouts' end
end`,
  deliveryOf: `local function deliveryOf(job, token, takeBacks, deliveryTimeouts)
  local attempt, itsTakeBacks = string.match(token, '^(%d+)%.(%d+)$')
  attempt, itsTakeBacks = tonumber(attempt), tonumber(itsTakeBacks)
  local lastTakeBacks = tonumber(stored(takeBacks) or 0)
  local diedAcked = job.status == 'dead' and not stored(deliveryTimeouts) and tonumber(job.attempt) > 0
  local wasAcked = job.status == 'running' or job.status == 'completed' or diedAcked
  local lastAttempt = tonumber(job.attempt) - (wasAcked and 1 or 0)
  if itsTakeBacks < lastTakeBacks then
    return attempt <= math.max(lastAttempt, tonumber(job.maxRetries)) and 'over' or 'unknown'
  end
  if itsTakeBacks > lastTakeBacks or attempt > lastAttempt then return 'unknown' end
  if attempt < lastAttempt then return 'over' end
  local waits = job.status == 'pending' or job.status == 'scheduled'
  if job.status == 'dead' then waits = not stored(redis.call('HGET', job.key, 'deliveredAt')) end
  return waits and 'unknown' or 'current'
end`,
  makeDead: `local function makeDead(job, nowMs, errorJson, eventsPerJob, retentionMs, ...)
  moveToStatusIndex(job, 'dead')
  startRetention(job, nowMs, retentionIn(settingsText(job.base, job.space), 'dead', retentionMs))
  local v = redis.call('HMGET', job.key, 'callbackUrl', 'callbackOn', 'unique', 'startBy')
  if job.status ~= 'running' then leaveWaiting(job, v[4]) end
  if wantsCallback('dead', v[1], v[2]) then enqueueCallback(job, nowMs) end
  if stored(v[3]) then freeUnique(job, v[3], 'expired') end
  recordEvent(job, formatInteger(nowMs), 'dead', 'dead', '{"error":' .. errorJson .. '}', eventsPerJob, 'error', errorJson, ...)
  return 'dead'
end`,
  failAttempt: `local function failAttempt(job, nowMs, errorJson, eventsPerJob, retentionMs, again)
  if tonumber(job.attempt) > tonumber(job.maxRetries) then return makeDead(job, nowMs, errorJson, eventsPerJob, retentionMs) end
  local retry, delayMs = stored(again.retry), again.delayMs
  if retry and not delayMs then delayMs = retryDelayMs(retry, job.attempt, tonumber(again.random)) end
  local scheduledFor = (delayMs or 0) > 0 and nowMs + delayMs or nil
  local status = returnToWaiting(job, nowMs, scheduledFor, nil, { again.priority })
  local data = '{"error":' .. errorJson .. ',"attemptNumber":' .. job.attempt .. scheduledData(scheduledFor)
  recordReturn(job, formatInteger(nowMs), 'retried', status, data, eventsPerJob, 'error', errorJson)
  return status
end`,
  failDelivery: `local function failDelivery(job, delivery, nowMs, maxDeliveries, eventsPerJob, retentionMs)
  if isStartOver(job, delivery.startBy, delivery.startWithin, nowMs) then return failStart(job, nowMs, delivery.startWithin, eventsPerJob, retentionMs) end
  local count = formatInteger(tonumber(stored(delivery.timeouts) or 0) + 1)
  if tonumber(count) >= tonumber(maxDeliveries) then
    local errorJson = '"Job was delivered ' .. maxDeliveries .. ' times and never acknowledged"'
    return makeDead(job, nowMs, errorJson, eventsPerJob, retentionMs, 'deliveryTimeouts', count)
  end
  local status = returnToWaiting(job, nowMs, nil, job.order, { delivery.priority, delivery.startWithin, delivery.startBy })
  recordReturn(job, formatInteger(nowMs), 'delivery_timeout', status, 'null', eventsPerJob,
    'deliveryTimeouts', count, 'takeBacks', nextTakeBacks(delivery.takeBacks), 'missedWindowMs', formatInteger(delivery.windowMs))
  return status
end`,
  spread: `local function spread(random, n)
  return (random + n * 0.6180339887498949) % 1
end`,
  retryDelayMs: `local function retryDelayMs(retry, attempt, random)
  local delays, factor, longest, jitter = string.match(retry, '^(%S+) (%S+) (%S+) (%S+)$')
  local seconds, n = 0, 0
  for delay in string.gmatch(delays, '[^,]+') do
    if n < tonumber(attempt) then seconds, n = delay, n + 1 end
  end
  seconds = seconds * factor ^ (attempt - 1) * (1 - jitter + 2 * jitter * random)
  return math.ceil(math.min(seconds, tonumber(longest)) * 1000)
end`,
  startAttempt: `local function startAttempt(job, nowMs, unique, maxRunSeconds, startBy, timeouts)
  moveToStatusIndex(job, 'running')
  local runBy = nil
  if stored(maxRunSeconds) then
    runBy = startRun(job, nowMs, maxRunSeconds)
  end
  openWindow(job, nowMs, executionMs(job), runBy)
  if stored(startBy) then
    redis.call('ZREM', job.base .. 'due', job.id)
    redis.call('HSET', job.key, 'startBy', '0')
  end
  if stored(unique) and string.find(unique, '^started ') then
    freeUnique(job, unique)
    redis.call('HSET', job.key, 'uniqueFreed', '1')
  end
  if stored(timeouts) then redis.call('HDEL', job.key, 'deliveryTimeouts') end
end`,
  sweep: `local function sweep(set, before, limit, nowMs, processOne)
  local entries = redis.call('ZRANGEBYSCORE', set, '-inf', '(' .. formatInteger(before), 'WITHSCORES', 'LIMIT', 0, limit)
  local broken = {}
  for i = 1, #entries, 2 do
    if not pcall(processOne, entries[i], tonumber(entries[i + 1]), (i + 1) / 2) then
      replaceEntry(set, entries[i], formatInteger(nowMs + 60000))
      broken[#broken + 1] = entries[i]
    end
  end
  return #entries / 2, broken
end`,
  replyToToken: `local function replyToToken(job, token, doneIn, ...)
  if job.status == 'killed' or job.status == 'pending' or job.status == 'scheduled' then return nil end
  if deliveryOf(job, token, ...) ~= 'current' then return { 'DELIVERY_LOST', job.status } end
  if job.status == doneIn then return { 'UNCHANGED' } end
  if job.status == 'completed' or job.status == 'dead' then return { 'JOB_NOT_RUNNING', job.status } end
end`,
  replyToGivingUp: `local function replyToGivingUp(job, token, ...)
  if job.status == 'killed' then return nil end
  local delivery = deliveryOf(job, token, ...)
  if delivery == 'unknown' then return { 'DELIVERY_LOST', job.status } end
  if delivery == 'over' or job.status == 'dead' then return { 'UNCHANGED' } end
end`,
  executionMs: `local function executionMs(job)
  return math.ceil(tonumber(job.timeoutSeconds) * 1000)
end`,
  deliveryMs: `local function deliveryMs(job, deliveryTimeoutMs)
  local ms = tonumber(deliveryTimeoutMs)
  return ms > 0 and ms or executionMs(job)
end`,
  windowMs: `local function windowMs(job, deliveryTimeoutMs)
  return job.status == 'delivered' and deliveryMs(job, deliveryTimeoutMs) or executionMs(job)
end`,
  openWindow: `local function openWindow(job, nowMs, ms, runBy)
  local closes = nowMs + ms
  if stored(runBy) then closes = math.min(closes, tonumber(runBy)) end
  redis.call('ZADD', job.base .. 'deadlines', formatInteger(closes), job.id)
end`,
  reopenWindow: `local function reopenWindow(job, nowMs, ms, runBy)
  redis.call('ZREM', job.base .. 'deadlines', job.id)
  openWindow(job, nowMs, ms, runBy)
end`,
  startRun: `local function startRun(job, nowMs, maxRunSeconds)
  local runBy = formatInteger(nowMs + math.ceil(maxRunSeconds * 1000))
  redis.call('HSET', job.key, 'runBy', runBy)
  return runBy
end`,
  lastStep: `local function lastStep(base, nowMs)
  local at = tonumber(stored(redis.call('GET', base .. 'stepped')) or 0)
  return at <= nowMs and at or 0
end`,
  reopenIfCutShort: `local function reopenIfCutShort(job, due, steppedAt, nowMs, deliveryTimeoutMs, run)
  if steppedAt == 0 or (job.status ~= 'delivered' and job.status ~= 'running') then return false end
  local ms, runBy = windowMs(job, deliveryTimeoutMs), run[2]
  local isRunOver = job.status == 'running' and stored(run[1]) and stored(runBy) and due >= tonumber(runBy)
  if due - (isRunOver and run[1] * 1000 or ms) >= steppedAt then return false end
  if isRunOver then runBy = startRun(job, nowMs, run[1]) end
  reopenWindow(job, nowMs, ms, runBy)
  return true
end`,
  enqueueCallback: `local function enqueueCallback(job, nowMs)
  redis.call('ZADD', job.base .. 'callbacks', formatInteger(nowMs), job.id)
  redis.call('PUBLISH', job.base .. 'pending', '1')
end`,
  wantsCallback: `local function wantsCallback(status, callbackUrl, callbackOn)
  return stored(callbackUrl) ~= nil and string.find(stored(callbackOn) or 'completed dead', status, 1, true) ~= nil
end`,
  loadCallback: `local function loadCallback(job)
  local hasEnded = job.status == 'completed' or job.status == 'dead' or job.status == 'killed'
  if not hasEnded or not redis.call('ZSCORE', job.base .. 'callbacks', job.id) then return nil end
  local v = redis.call('HMGET', job.key, 'callbackAttempts', 'callbackRound', 'callbackDueAt', 'callbackLeasedUntil')
  for i = 1, 4 do v[i] = tonumber(stored(v[i]) or 0) end
  return { attempts = v[1], series = v[2], due = v[3], leasedUntil = v[4] }
end`,
  postpone: `local function postpone(job, at)
  replaceEntry(job.base .. 'callbacks', job.id, formatInteger(at))
end`,
  now: `local function now()
  local time = redis.call('TIME')
  local ms = math.floor(time[2] / 1000)
  return time[1] * 1000.0 + ms, time[1] .. string.format('%03d', ms), time[2]
end`,
  isTooLate: `local function isTooLate(nowMs, notAfter)
  return notAfter ~= '' and nowMs > tonumber(notAfter)
end`,
  timeOf: `local function timeOf(delay, nowMs)
  local ms = tonumber(delay)
  if not ms then return nil end
  local at = string.sub(delay, 1, 1) == '+' and nowMs + ms or ms
  return at > nowMs and at or nil
end`,
  formatInteger: `local function formatInteger(number)
  if number < 1e8 or number > 2 ^ 53 then return string.format('%.0f', number) end
  local low = number % 1e8
  return string.format('%d%08d', (number - low) / 1e8, low)
end`,
  isoText: `local function isoText(ms)
  local days, ofDay = math.floor(ms / 86400000) + 719468, ms % 86400000
  local era, dayOfEra = math.floor(days / 146097), days % 146097
  local year = math.floor((dayOfEra - math.floor(dayOfEra / 1460) + math.floor(dayOfEra / 36524) - math.floor(dayOfEra / 146096)) / 365)
  local dayOfYear = dayOfEra - (365 * year + math.floor(year / 4) - math.floor(year / 100))
  local month = math.floor((5 * dayOfYear + 2) / 153)
  local day = dayOfYear - math.floor((153 * month + 2) / 5) + 1
  local isNextYear = month >= 10
  return string.format('"%04.0f-%02.0f-%02.0fT%02.0f:%02.0f:%02.0f.%03.0fZ"', year + era * 400 + (isNextYear and 1 or 0),
    isNextYear and month - 9 or month + 3, day, math.floor(ofDay / 3600000), math.floor(ofDay / 60000) % 60, math.floor(ofDay / 1000) % 60, ofDay % 1000)
end`,
  failureReply: `local function failureReply(failure)
  return type(failure) == 'table' and failure or { err = failure }
end`,
  indexesFor: `local function indexesFor(prefix, statuses, tags)
  local best, fewest = {}, 0
  for status in string.gmatch(statuses, '%S+') do best[#best + 1] = prefix .. 'status/' .. status end
  if not best[1] then best[1] = prefix .. 'jobs' end
  if tags == '' then return best end
  for _, index in ipairs(best) do fewest = fewest + redis.call('ZCARD', index) end
  for tag in string.gmatch(tags, '[^\\n]+') do
    local size = redis.call('ZCARD', prefix .. 'tag/' .. tag)
    if size < fewest then best, fewest = { prefix .. 'tag/' .. tag }, size end
  end
  return best
end`,
  entriesOf: `local function entriesOf(indexes, order, min, max, most)
  local isDescending = order == 'desc'
  local function read(index, ...)
    if isDescending then return redis.call('ZREVRANGEBYSCORE', index, max, min, 'LIMIT', 0, most, ...) end
    return redis.call('ZRANGEBYSCORE', index, min, max, 'LIMIT', 0, most, ...)
  end
  if not indexes[2] then
    local ids = read(indexes[1])
    return function(n) return redis.call('ZSCORE', indexes[1], ids[n]) end, ids
  end
  local lists, at, heads, ids, places = {}, {}, {}, {}, {}
  for i, index in ipairs(indexes) do
    lists[i] = read(index, 'WITHSCORES')
    at[i], heads[i] = 1, tonumber(lists[i][2] or '')
  end
  while #ids < most do
    local first
    for i = 1, #lists do
      if heads[i] and (not first or isDescending == (heads[i] > heads[first])) then first = i end
    end
    if not first then break end
    local list, i, n = lists[first], at[first], #ids + 1
    ids[n], places[n] = list[i], list[i + 1]
    at[first], heads[first] = i + 2, tonumber(list[i + 3] or '')
  end
  return function(n) return places[n] end, ids
end`,
  filterBy: `local function filterBy(statuses, tags, names)
  local isByIndex, hasStatus, hasName = tags == '' and not names[1], {}, {}
  for status in string.gmatch(statuses, '%S+') do hasStatus[status] = true end
  for _, name in ipairs(names) do hasName[name] = true end
  return function(key)
    if isByIndex then return true end
    local v = redis.call('HMGET', key, 'name', 'status', 'tags')
    if not stored(v[2]) then return false end
    return (not names[1] or hasName[v[1]]) and (statuses == '' or hasStatus[v[2]]) and hasTags(v[3], tags)
  end
end`,
  appendEvent: `local function appendEvent(job, at, type, data, eventsPerJob)
  local history = job.key .. ':events'
  local kept = (data == 'null' or type == 'completed') and '' or ',' .. data
  local entry = '["' .. type .. '",' .. at .. kept .. ']'
  local length = job.isNew and 0 or redis.call('RPUSHX', history, entry)
  local impliedSeq = type == 'delivered' and '2' or type == 'acked' and '3' or type == 'completed' and '4'
  if length == 0 and not impliedSeq then
    local entries = impliedEntries(job.key, job.status)
    entries[#entries + 1] = entry
    length = redis.call('RPUSH', history, unpack(entries))
  end
  if length > 0 then
    return formatInteger(keepNewest(job, history, length, eventsPerJob))
  end
  return impliedSeq
end`,
  appendDelivery: `local function appendDelivery(job, at, eventsPerJob)
  local history = job.key .. ':events'
  local length = job.isNew and 0 or redis.call('RPUSHX', history, '["delivered",' .. at .. ']', '["acked",' .. at .. ']')
  if length == 0 then return 2 end
  return keepNewest(job, history, length, eventsPerJob) - 1
end`,
  keepNewest: `local function keepNewest(job, history, length, eventsPerJob)
  local excess = length - (tonumber(eventsPerJob) - 1)
  if excess > 0 then
    redis.call('LTRIM', history, excess, -1)
    redis.call('HSET', job.key, 'eventsDropped', formatInteger(job.eventsDropped + excess))
  end
  return 1 + job.eventsDropped + length
end`,
  recordEvent: `local function recordEvent(job, at, type, status, data, eventsPerJob, ...)
  local seq = appendEvent(job, at, type, data, eventsPerJob)
  redis.call('HSET', job.key, 'status', status, 'updatedAt', at, ...)
  publish(job, seq, type, status, at, data)
end`,
  recordReturn: `local function recordReturn(job, at, type, status, data, eventsPerJob, ...)
  local seq = appendEvent(job, at, type, data, eventsPerJob)
  redis.call('HSET', job.key, 'status', status, 'updatedAt', at, ...)
  redis.call('HDEL', job.key, 'deliveredAt', 'startedAt', 'runBy', 'workerId', 'ackWithinMs')
  publish(job, seq, type, status, at, data)
end`,
  impliedEntries: `local function impliedEntries(key, status)
  if status ~= 'delivered' and status ~= 'running' and status ~= 'completed' then return {} end
  local v = redis.call('HMGET', key, 'deliveredAt', 'startedAt', 'updatedAt')
  for i = 1, 3 do v[i] = stored(v[i]) or '0' end
  local delivered = '["delivered",' .. v[1] .. ']'
  if status == 'delivered' then return { delivered } end
  local acked = '["acked",' .. v[2] .. ']'
  if status == 'running' then return { delivered, acked } end
  return { delivered, acked, '["completed",' .. v[3] .. ']' }
end`,
  stored: `local function stored(value)
  return type(value) == 'string' and value or nil
end`,
  loadJob: `local function loadJob(key, base, id, ...)
  local v = redis.call('HMGET', key, 'status', 'space', 'name', 'order', 'attempt', 'maxRetries', 'timeoutSeconds', 'eventsDropped', 'tags', ...)
  local job = {
    key = key, base = base, id = id,
    status = stored(v[1]), space = v[2], name = v[3], order = v[4],
    attempt = stored(v[5]) or '0',
    maxRetries = stored(v[6]) or '3',
    timeoutSeconds = stored(v[7]) or '300',
    eventsDropped = tonumber(stored(v[8]) or 0),
    tags = stored(v[9]),
  }
  return job, unpack(v, 10, 9 + select('#', ...))
end`,
  loadWhole: `local function loadWhole(key, base, id)
  local job = {
    key = key, base = base, id = id, attempt = '0', maxRetries = '3',
    timeoutSeconds = '300', eventsDropped = 0,
  }
  local v = redis.call('HGETALL', key)
  for i = 1, #v, 2 do job[v[i]] = v[i + 1] end
  job.isNew = job.updatedAt == nil
  return job
end`,
  refusalFor: `local function refusalFor(status, space, keySpaceId)
  if not status then return 'JOB_NOT_FOUND' end
  if keySpaceId ~= '' and keySpaceId ~= space then return 'FORBIDDEN' end
end`,
  knownFull: `local knownFull`,
  isMemoryFull: `local function isMemoryFull(base)
  if knownFull == nil then
    local reply = redis.pcall('RPUSHX', base .. 'none', '')
    knownFull = type(reply) == 'table' and reply.err ~= nil
  end
  return knownFull
end`,
  addJob: `local function addJob(job, nowMs, micros, fields, waits, tags)
  local base, space, id = job.base, job.space, job.id
  local moment = nowMs * 1024 + math.floor(micros % 1000 * 1.024)
  local order = nextOrder(base, space, moment)
  local scheduledFor = timeOf(waits.delay, nowMs)
  local status = scheduledFor and 'scheduled' or 'pending'
  redis.call('HSET', job.key, 'status', status, 'space', space, 'name', job.name, 'order', order, unpack(fields))
  redis.call('ZADD', base .. 'space:' .. space .. '/jobs', order, id)
  redis.call('ZADD', base .. 'space:' .. space .. '/status/' .. status, order, id)
  redis.call('ZINCRBY', base .. 'space:' .. space .. '/names', '1', job.name)
  job.order, job.tags = order, tags
  enterTags(job)
  enterWaiting(job, nowMs, scheduledFor, order, waits.options)
  publishCreation(job, status, order)
  return order, scheduledFor
end`,
  replaceJob: `local function replaceJob(job, nowMs, eventsPerJob, fields, waits, tags)
  local at, scheduledFor = formatInteger(nowMs), timeOf(waits.delay, nowMs)
  redis.call('HSET', job.key, 'updatedAt', at)
  local v = redis.call('HMGET', job.key, 'priority', 'startBy')
  local score = stored(redis.call('ZSCORE', job.base .. 'space:' .. job.space .. '/queue/' .. job.name, job.id))
  local order = score and claimOrder(score, v[1])
  leaveWaiting(job, v[2])
  leaveTags(job)
  redis.call('HDEL', job.key, 'payload', 'maxRetries', 'timeoutSeconds', 'callbackUrl', 'callbackHeaders', 'callbackOn', 'checkpoint',
    'scheduledFor', 'retry', 'maxRunSeconds', 'runBy', 'startWithinSeconds', 'startBy', 'priority', 'tags')
  job.tags = tags
  enterTags(job)
  local status = returnToWaiting(job, nowMs, scheduledFor, order, waits.options)
  local data = scheduledFor and '{"scheduledFor":' .. isoText(scheduledFor) .. '}' or 'null'
  recordEvent(job, at, 'replaced', status, data, eventsPerJob, unpack(fields))
  return status
end`,
  takeFirst: `local function takeFirst(queue)
  return redis.call('ZPOPMIN', queue)[1]
end`,
  oldestFirst: `local function oldestFirst(keys, portion)
  local function fill(q)
    if not q.entries or (q.at > #q.entries and #q.entries > 0) then
      q.entries = redis.call('ZRANGE', q.key, 0, portion - 1, 'WITHSCORES')
      q.at = 1
    end
    q.id, q.order = q.entries[q.at], tonumber(q.entries[q.at + 1])
    return q.id
  end
  local queues, taken, index = {}, nil, nil
  for _, key in ipairs(keys) do
    local q = { key = key }
    if fill(q) then queues[#queues + 1] = q end
  end
  return function()
    if taken and not fill(taken) then table.remove(queues, index) end
    taken, index = queues[1], 1
    for i = 2, #queues do
      if queues[i].order < taken.order then taken, index = queues[i], i end
    end
    if not taken then return nil end
    taken.at = taken.at + 2
    redis.call('ZREM', taken.key, taken.id)
    return taken.id
  end
end`,
  OPERATION_ENDS: `local OPERATION_ENDS = { kill = 'killed', delete = 'none' }`,
  operationLeft: `local function operationLeft(space, statuses, cursor, highest)
  local at, order = string.match(cursor, '^(%S+) (%S+)$')
  if not at then return 0 end
  if at == 'ids' then return tonumber(order) end
  local left, isAhead = 0, false
  for status in string.gmatch(statuses, '%S+') do
    local after = isAhead and '-inf' or order
    isAhead = isAhead or status == at
    if isAhead then left = left + redis.call('ZCOUNT', space .. 'status/' .. status, '(' .. after, highest) end
  end
  return left
end`,
  endOperation: `local function endOperation(base, id, status, nowText, left)
  redis.call('ZREM', base .. 'operations', id)
  redis.call('HSET', base .. 'operation:' .. id, 'status', status, 'finishedAt', nowText, 'left', formatInteger(left))
end`,
  nextJobs: `local function nextJobs(index, order, lowest, highest, most)
  local low = order == '-inf' and lowest or '(' .. order
  local found, page = redis.call('ZRANGEBYSCORE', index, low, highest, 'WITHSCORES', 'LIMIT', 0, most), {}
  for i = 1, #found, 2 do page[#page + 1] = { found[i], found[i + 1] } end
  return page
end`,
  matchingJob: `local function matchingJob(key, base, id, filter)
  local job = loadJob(key, base, id)
  local order = tonumber(stored(job.order) or -1)
  if job.space ~= filter.space or order > tonumber(filter.highest) then return nil end
  if filter.lowest ~= '-inf' and order < tonumber(filter.lowest) then return nil end
  if next(filter.names) and not filter.names[job.name] then return nil end
  return hasTags(job.tags, filter.tags) and job or nil
end`,
  recordStep: `local function recordStep(base, id, nowText, cursor, counts)
  local key = base .. 'operation:' .. id
  local fields = { 'looked', 'changed', 'skipped' }
  local before = redis.call('HMGET', key, 'looked', 'changed', 'skipped', 'limit', 'space', 'statuses', 'highest')
  for i, field in ipairs(fields) do
    counts[i] = counts[i] + tonumber(stored(before[i]) or 0)
    redis.call('HSET', key, field, formatInteger(counts[i]))
  end
  redis.call('HSET', key, 'cursor', cursor)
  if cursor ~= 'end' and counts[2] < tonumber(stored(before[4]) or math.huge) then return 'running' end
  local left = operationLeft(base .. 'space:' .. before[5] .. '/', before[6], cursor, before[7])
  endOperation(base, id, 'done', nowText, left)
  return 'done'
end`,
  countMove: `local function countMove(moves, job, after)
  for i = 1, #moves, 4 do
    if moves[i] == job.status and moves[i + 1] == after and moves[i + 2] == job.name then
      moves[i + 3] = moves[i + 3] + 1
      return
    end
  end
  for _, value in ipairs({ job.status, after, job.name, 1 }) do moves[#moves + 1] = value end
end`,
  quote: `local function quote(text)
  if not string.find(text, '[%c"\\\\]') then return '"' .. text .. '"' end
  return '"' .. string.gsub(text, '[%c"\\\\]', function(c) return string.format('\\\\u%04x', string.byte(c)) end) .. '"'
end`,
  eventMessage: `local function eventMessage(job, seq, type, status, at, data)
  local tags = ''
  if job.tags then
    local list = {}
    for tag in string.gmatch(job.tags, '[^\\n]+') do list[#list + 1] = quote(tag) end
    tags = list[1] and ',"tags":[' .. table.concat(list, ',') .. ']' or ''
  end
  return '{"seq":' .. seq .. ',"jobId":"' .. job.id .. '","jobName":' .. quote(job.name) .. ',"spaceId":"' .. job.space
    .. '","type":"' .. type .. '","status":"' .. status .. '","data":' .. data .. ',"at":' .. at .. tags .. '}'
end`,
  publish: `local function publish(job, seq, type, status, at, data)
  local message = eventMessage(job, seq, type, status, at, data)
  redis.call('PUBLISH', job.base .. 'stream:job:' .. job.id, message)
  redis.call('PUBLISH', job.base .. 'stream:space:' .. job.space, message)
end`,
  publishCreation: `local function publishCreation(job, status, order)
  local at = formatInteger(math.floor(order / 1024))
  redis.call('PUBLISH', job.base .. 'stream:space:' .. job.space, eventMessage(job, '1', 'created', status, at, 'null'))
end`,
  publishCreations: `local function publishCreations(base, space, names, entries)
  local channel = base .. 'stream:space:' .. space
  if redis.call('PUBSUB', 'NUMSUB', channel)[2] == 0 then return end
  for i, name in ipairs(names) do
    publishCreation({ base = base, space = space, name = name, id = entries[2 * i] }, 'pending', entries[2 * i - 1])
  end
end`,
  replaceEntry: `local function replaceEntry(index, member, score)
  redis.call('ZREM', index, member)
  redis.call('ZADD', index, score, member)
end`,
  moveToStatusIndex: `local function moveToStatusIndex(job, to)
  local index = job.base .. 'space:' .. job.space .. '/status/'
  redis.call('ZREM', index .. job.status, job.id)
  redis.call('ZADD', index .. to, job.order, job.id)
end`,
  enqueue: `local function enqueue(job, order)
  local queue = job.base .. 'space:' .. job.space .. '/queue'
  redis.call('ZADD', queue, order, job.id)
  redis.call('ZADD', queue .. '/' .. job.name, order, job.id)
  wake(job)
end`,
  dequeue: `local function dequeue(job)
  local queue = job.base .. 'space:' .. job.space .. '/queue'
  redis.call('ZREM', queue, job.id)
  redis.call('ZREM', queue .. '/' .. job.name, job.id)
end`,
  nextOrder: `local function nextOrder(base, space, moment)
  local spaces, order = base .. 'spaces', formatInteger(moment)
  if redis.pcall('ZADD', spaces, 'CH', 'GT', order, space) == 1 then return order end
  local last = tonumber(redis.call('ZSCORE', spaces, space) or 0)
  order = formatInteger(math.max(last + 1, moment))
  redis.call('ZADD', spaces, order, space)
  return order
end`,
  startRetention: `local function startRetention(job, nowMs, retentionMs)
  if tonumber(retentionMs) > 0 then
    redis.call('ZADD', job.base .. 'deadlines', formatInteger(nowMs + tonumber(retentionMs)), job.id)
  else
    redis.call('ZREM', job.base .. 'deadlines', job.id)
    redis.call('HSET', job.key, 'kept', '1')
  end
end`,
  purge: `local function purge(job, nowMs, unique)
  local deadlines = job.base .. 'deadlines'
  if redis.call('ZSCORE', job.base .. 'callbacks', job.id) then
    replaceEntry(deadlines, job.id, formatInteger(nowMs + 60000))
    return false
  end
  local space = job.base .. 'space:' .. job.space
  redis.call('ZREM', deadlines, job.id)
  redis.call('ZREM', space .. '/jobs', job.id)
  redis.call('ZREM', space .. '/status/' .. job.status, job.id)
  if tonumber(redis.call('ZINCRBY', space .. '/names', -1, job.name)) <= 0 then redis.call('ZREM', space .. '/names', job.name) end
  if stored(unique) then freeUnique(job, unique) end
  leaveTags(job)
  redis.call('UNLINK', job.key, job.key .. ':events', job.key .. ':logs')
  if redis.call('ZCARD', space .. '/jobs') == 0 then redis.call('ZREM', job.base .. 'spaces', job.space) end
  return true
end`,
  settingsText: `local function settingsText(base, space)
  return redis.call('HGET', base .. 'settings', space)
end`,
  retentionIn: `local function retentionIn(settings, status, retentionMs)
  local completed, dead, killed = string.match(stored(settings) or '- - - ', '^(%S+) (%S+) (%S+) ')
  return tonumber(status == 'completed' and completed or status == 'dead' and dead or killed) or retentionMs
end`,
  maxPendingIn: `local function maxPendingIn(settings)
  return tonumber(string.match(stored(settings) or '', '^%S+ %S+ %S+ (%S+) '))
end`,
  tagIndex: `local function tagIndex(job, tag)
  return job.base .. 'space:' .. job.space .. '/tag/' .. tag
end`,
  enterTags: `local function enterTags(job)
  for tag in string.gmatch(job.tags or '', '[^\\n]+') do redis.call('ZADD', tagIndex(job, tag), job.order, job.id) end
end`,
  leaveTags: `local function leaveTags(job)
  for tag in string.gmatch(job.tags or '', '[^\\n]+') do redis.call('ZREM', tagIndex(job, tag), job.id) end
end`,
  hasTags: `local function hasTags(tags, wanted)
  local all = '\\n' .. (stored(tags) or '') .. '\\n'
  for tag in string.gmatch(wanted, '[^\\n]+') do
    if not string.find(all, '\\n' .. tag .. '\\n', 1, true) then return false end
  end
  return true
end`,
  uniqueEntry: `local function uniqueEntry(job, unique)
  local lasts, key = string.match(unique, '^(%l+) %l+ %d+ (.*)$')
  return job.base .. 'space:' .. job.space .. '/unique', #job.name .. ':' .. job.name .. (key or ''), lasts
end`,
  freeUnique: `local function freeUnique(job, unique, keeping)
  local index, field, lasts = uniqueEntry(job, unique)
  if lasts ~= keeping and stored(redis.call('HGET', index, field)) == job.id then redis.call('HDEL', index, field) end
end`,
  takesUniqueBack: `local function takesUniqueBack(job, unique, freed, nowMs)
  local isTimed = string.find(unique, '^expired ')
  return occupiesUnique({ status = 'pending', order = job.order }, unique, isTimed and stored(freed) or nil, nowMs)
end`,
  occupyUnique: `local function occupyUnique(job, unique, other)
  local index, field = uniqueEntry(job, unique)
  redis.call('HSET', index, field, job.id)
  if other then redis.call('HSET', other.key, 'uniqueFreed', '1') end
end`,
  uniqueHolder: `local function uniqueHolder(job, unique, nowMs)
  local index, field = uniqueEntry(job, unique)
  local id = stored(redis.call('HGET', index, field))
  if not id then return nil end
  local other, itsUnique, freed = loadJob(job.base .. 'job:' .. id, job.base, id, 'unique', 'uniqueFreed')
  if other.space ~= job.space or other.name ~= job.name or not stored(itsUnique) then return nil end
  local _, itsField = uniqueEntry(other, itsUnique)
  if itsField ~= field then return nil end
  return other, occupiesUnique(other, itsUnique, stored(freed), nowMs)
end`,
  occupiesUnique: `local function occupiesUnique(job, unique, freed, nowMs)
  if freed then return false end
  local lasts, ttlSeconds = string.match(unique, '^(%l+) %l+ (%d+) ')
  if lasts == 'expired' then return nowMs < math.floor(job.order / 1024) + ttlSeconds * 1000 end
  local waits = job.status == 'scheduled' or job.status == 'pending' or job.status == 'delivered'
  return waits or (lasts ~= 'started' and job.status == 'running')
end`,
  pausedNames: `local function pausedNames(prefix)
  local fields, names = redis.call('HGETALL', prefix .. 'paused'), nil
  for i = 1, #fields, 2 do
    if fields[i + 1] == '1' then
      names = names or {}
      names[fields[i]] = true
    end
  end
  return names
end`,
  putBack: `local function putBack(base, space, limit)
  local prefix = base .. 'space:' .. space .. '/'
  local queue, fields, left, isAny = prefix .. 'queue', redis.call('HGETALL', prefix .. 'paused'), tonumber(limit), false
  for i = 1, #fields, 2 do
    local name, from = fields[i], string.match(fields[i + 1], '^>(.+)$')
    if from and left <= 0 then return true end
    if from then
      local entries = redis.call('ZRANGEBYSCORE', queue .. '/' .. name, from, '+inf', 'WITHSCORES', 'LIMIT', 0, left)
      local isLast, missing, last = #entries < 2 * left, {}, entries[#entries]
      for n = 1, #entries, 2 do missing[n], missing[n + 1] = entries[n + 1], entries[n] end
      left = left - #entries / 2
      redis.call('HDEL', prefix .. 'paused', name)
      if not isLast then redis.call('HSET', prefix .. 'paused', name, '>' .. (last == from and '(' .. last or last)) end
      if missing[1] then redis.call('ZADD', queue, 'NX', unpack(missing)) end
      isAny = isAny or missing[1] ~= nil
      if not isLast then left = 0 end
    end
  end
  if isAny then wakeAll(base, space) end
  return left <= 0
end`,
  startLimit: `local function startLimit(job, startBy)
  local at = tonumber(stored(startBy) or 0)
  return at > 0 and tonumber(job.attempt) == 0 and at or nil
end`,
  isStartCutShort: `local function isStartCutShort(limit, within, steppedAt)
  return steppedAt > 0 and limit - within * 1000 < steppedAt
end`,
  isStartOver: `local function isStartOver(job, startBy, within, nowMs)
  local limit = startLimit(job, startBy)
  if not limit or limit >= nowMs then return false end
  return not isStartCutShort(limit, within, lastStep(job.base, nowMs))
end`,
  failStart: `local function failStart(job, nowMs, within, eventsPerJob, retentionMs)
  return makeDead(job, nowMs, '"Job was not started within ' .. within .. ' seconds"', eventsPerJob, retentionMs)
end`,
  queueScore: `local function queueScore(order, priority)
  return stored(priority) and formatInteger(order - priority * 1024000) or order
end`,
  claimOrder: `local function claimOrder(score, priority)
  return stored(priority) and formatInteger(score + priority * 1024000) or score
end`,
  enterWaiting: `local function enterWaiting(job, nowMs, scheduledFor, order, options)
  local priority, within, limit = options[1], stored(options[2]), startLimit(job, options[3])
  if scheduledFor then
    redis.call('HSET', job.key, 'scheduledFor', formatInteger(scheduledFor))
  else
    enqueue(job, queueScore(order, priority))
    if within and not stored(options[3]) and tonumber(job.attempt or 0) == 0 then
      limit = nowMs + math.ceil(within * 1000)
      redis.call('HSET', job.key, 'startBy', formatInteger(limit))
    end
  end
  local due = math.min(scheduledFor or math.huge, limit or math.huge)
  if due < math.huge then redis.call('ZADD', job.base .. 'due', formatInteger(due), job.id) end
end`,
  leaveWaiting: `local function leaveWaiting(job, startBy)
  if job.status == 'pending' then dequeue(job) end
  if job.status == 'scheduled' or stored(startBy) then redis.call('ZREM', job.base .. 'due', job.id) end
end`,
  returnToWaiting: `local function returnToWaiting(job, nowMs, scheduledFor, order, options)
  local status = scheduledFor and 'scheduled' or 'pending'
  moveToStatusIndex(job, status)
  redis.call('ZREM', job.base .. 'deadlines', job.id)
  if not scheduledFor then order = order or nextOrder(job.base, job.space, nowMs * 1024) end
  enterWaiting(job, nowMs, scheduledFor, order, options)
  return status
end`,
  scheduledData: `local function scheduledData(scheduledFor)
  return scheduledFor and ',"scheduledFor":' .. isoText(scheduledFor) .. '}' or '}'
end`,
  wake: `local function wake(job)
  redis.call('PUBLISH', job.base .. 'wake:' .. job.space, job.name)
end`,
  wakeAll: `local function wakeAll(base, space)
  redis.call('PUBLISH', base .. 'wake:' .. space, '')
end`,
  wakeForEach: `local function wakeForEach(job, count)
  for _ = 1, count do
    if redis.call('PUBLISH', job.base .. 'wake:' .. job.space, job.name) == 0 then return end
  end
end`,
};

/** Shared Lua that stands for that of the same name in scripts WITH collected. */
const collected = {
  clock: `local clock`,
  now: `local function now()
  if not clock then
    local time = redis.call('TIME')
    local ms = math.floor(time[2] / 1000)
    clock = { time[1] * 1000.0 + ms, time[1] .. string.format('%03d', ms), time[2] }
  end
  return clock[1], clock[2], clock[3]
end`,
  collected: `local collected = { messages = {}, woken = {} }`,
  publish: `local function publish(job, ...)
  collected.messages[#collected.messages + 1] = { job, ... }
end`,
  publishCreation: `local function publishCreation(job, status, order)
  publish(job, '1', 'created', status, formatInteger(math.floor(order / 1024)), 'null')
end`,
  wake: `local function wake(job)
  collected.woken[job.name] = (collected.woken[job.name] or 0) + 1
end`,
  publishCollected: `local function publishCollected(base, space)
  local messages, ofSpace, ofWake = collected.messages, base .. 'stream:space:' .. space, base .. 'wake:' .. space
  local channels = { ofSpace, next(collected.woken) and ofWake or nil }
  for _, message in ipairs(messages) do
    local job = message[1]
    if job.channel == nil then
      job.channel = base .. 'stream:job:' .. job.id
      channels[#channels + 1] = job.channel
    end
  end
  if not messages[1] then return end
  local counts, isWatched, isAnyWatched = redis.call('PUBSUB', 'NUMSUB', unpack(channels)), {}, false
  for i = 2, #counts, 2 do
    if counts[i] > 0 then isWatched[counts[i - 1]], isAnyWatched = true, true end
  end
  if not isAnyWatched then return end
  for _, message in ipairs(messages) do
    local channel = message[1].channel
    if isWatched[channel] or isWatched[ofSpace] then
      local text = eventMessage(unpack(message))
      if isWatched[channel] then redis.call('PUBLISH', channel, text) end
      if isWatched[ofSpace] then redis.call('PUBLISH', ofSpace, text) end
    end
  end
  for name, count in pairs(isWatched[ofWake] and collected.woken or {}) do
    for _ = 1, count do redis.call('PUBLISH', ofWake, name) end
  end
end`,
  knownSettings: `local knownSettings = {}`,
  settingsText: `local function settingsText(base, space)
  if knownSettings[space] == nil then knownSettings[space] = redis.call('HGET', base .. 'settings', space) or false end
  return knownSettings[space]
end`,
};

/** Shared Lua that stands for that of the same name in scripts WITH later. */
const later = {
  nextOrder: `local function nextOrder(base, space, moment)
  local spaces = base .. 'spaces'
  if not later.order then later.order = redis.direct('ZSCORE', spaces, space) or '0' end
  later.order = formatInteger(math.max(later.order + 1, moment))
  redis.call('ZADD', spaces, later.order, space)
  return later.order
end`,
  later: `local later = { scores = {}, counts = {} }`,
  writeSets: `local function writeSets(call, only)
  for key, scores in pairs(later.scores) do
    if not only or key == only then
      local added, removed = {}, {}
      for member, score in pairs(scores) do
        if score then added[#added + 1], added[#added + 2] = score, member else removed[#removed + 1] = member end
      end
      if #removed > 0 then call('ZREM', key, unpack(removed)) end
      if #added > 0 then call('ZADD', key, unpack(added)) end
      later.scores[key] = nil
    end
  end
end`,
  redis: `local redis = {
  pcall = redis.pcall,
  direct = redis.call,
  call = (function(call)
    return function(command, ...)
      local key, a, b = ...
      if command == 'ZADD' or command == 'ZREM' then
        local scores = later.scores[key] or {}
        later.scores[key] = scores
        if command == 'ZADD' then scores[b] = a else scores[a] = false end
        if not later.isWritten and command == 'ZREM' then
          later.isWritten, scores[a] = true, nil
          return call(command, key, a)
        end
        return nil
      elseif command == 'ZINCRBY' then
        later.counts[key] = later.counts[key] or {}
        later.counts[key][b] = (later.counts[key][b] or 0) + a
        return nil
      elseif later.scores[key] then
        writeSets(call, key)
      end
      return call(command, ...)
    end
  end)(redis.call),
}`,
  takeFirst: `local function takeFirst(queue, wanted)
  if wanted == 1 then return redis.call('ZPOPMIN', queue)[1] end
  local heads = later.heads
  if not heads or heads.at > #heads then
    heads = redis.call('ZRANGE', queue, 0, wanted - 1)
    heads.at = 1
    later.heads = heads
  end
  local id = heads[heads.at]
  heads.at = heads.at + 1
  if id then redis.call('ZREM', queue, id) end
  return id
end`,
  writeLater: `local function writeLater()
  writeSets(redis.direct)
  for key, counts in pairs(later.counts) do
    for member, count in pairs(counts) do redis.direct('ZINCRBY', key, count, member) end
  end
end`,
};

export const record_uses = {
  name: 'record_uses', sha1: '0460a7b298c9ebbf2bf6099f8b38c1ec1bc3921d',
  keyCount: 2,
  parameters: ({ keys, rest }: { keys: { records: string; keyUses: string }; rest: readonly ScriptArgument[] }): ScriptArgument[] => [keys.records, keys.keyUses, ...rest],
  decode: () => ({}),
  text: `${lua.now}\n${lua.formatInteger}\nlocal records, keyUses = KEYS[1], KEYS[2]
local uses = { unpack(ARGV, 1) }
local nowMs = now()
for i = 1, #uses, 2 do
  local usedAt = nowMs - tonumber(uses[i + 1])
  local before = tonumber(redis.call('HGET', keyUses, uses[i]) or 0)
  if usedAt > before and redis.call('HEXISTS', records, uses[i]) == 1 then
    redis.call('HSET', keyUses, uses[i], formatInteger(usedAt))
  end
end
return { 'OK' }
`,
} as const;

export const replace_key = {
  name: 'replace_key', sha1: 'a80b22f682c16190688d40731a749cdebd15256a',
  keyCount: 1,
  parameters: ({ keys, args }: { keys: { records: string }; args: { keyId: ScriptArgument; expected: ScriptArgument; record: ScriptArgument; channel: ScriptArgument; message: ScriptArgument } }): ScriptArgument[] => [keys.records, args.keyId, args.expected, args.record, args.channel, args.message],
  decode: (r: unknown[]) => (r[0] === 'OK' ? { outcome: 'OK' as const } : { outcome: 'CHANGED' as const }),
  text: `local records = KEYS[1]
local keyId, expected, record, channel, message = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
if redis.call('HGET', records, keyId) ~= expected then return { 'CHANGED' } end
redis.call('HDEL', records, keyId)
redis.call('HSET', records, keyId, record)
redis.call('PUBLISH', channel, message)
return { 'OK' }
`,
} as const;

export const append_act = {
  name: 'append_act', sha1: '1e7f614add7982d80835d2ddfc6d53b3b6fd3eee',
  keyCount: 1,
  parameters: ({ keys, args, rest }: { keys: { audit: string }; args: { most: ScriptArgument }; rest: readonly ScriptArgument[] }): ScriptArgument[] => [keys.audit, args.most, ...rest],
  decode: () => ({}),
  text: `${lua.now}\nlocal audit = KEYS[1]
local most = ARGV[1]
local fields = { unpack(ARGV, 2) }
redis.call('XTRIM', audit, 'MAXLEN', tonumber(most) - 1)
local _, nowText = now()
redis.call('XADD', audit, '*', 'at', nowText, unpack(fields))
return { 'OK' }
`,
} as const;

export const begin_callback = {
  name: 'begin_callback', sha1: '5e658419cd651b997c5e626ca8a408cb1ae31dbf',
  keyCount: 1,
  parameters: ({ keys, args }: { keys: { jobKey: string }; args: { base: ScriptArgument; jobId: ScriptArgument; series: ScriptArgument; leaseMs: ScriptArgument; longestWaitMs: ScriptArgument } }): ScriptArgument[] => [keys.jobKey, args.base, args.jobId, args.series, args.leaseMs, args.longestWaitMs],
  decode: (r: unknown[]) => (r[0] === 'OK' ? { outcome: 'OK' as const, nowMs: Number(r[1]), attempt: Number(r[2]), lease: r[3] as string, fields: r[4] as (string | null)[] } : r[0] === 'NOT_DUE' ? { outcome: 'NOT_DUE' as const, waitMs: Number(r[1]) } : { outcome: 'NOT_PENDING' as const }),
  text: `${lua.stored}\n${lua.loadJob}\n${lua.loadCallback}\n${lua.now}\n${lua.replaceEntry}\n${lua.formatInteger}\n${lua.postpone}\nlocal jobKey = KEYS[1]
local base, jobId, series, leaseMs, longestWaitMs = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local job = loadJob(jobKey, base, jobId)
local callback = loadCallback(job)
if not callback or callback.series ~= tonumber(series) then return { 'NOT_PENDING' } end
local nowMs, nowText = now()
if callback.leasedUntil > nowMs then return { 'NOT_DUE', math.min(callback.leasedUntil - nowMs, tonumber(longestWaitMs)) } end
if callback.due > nowMs then return { 'NOT_DUE', callback.due - nowMs } end
local lease = nowMs + tonumber(leaseMs)
postpone(job, lease)
redis.call('HSET', jobKey, 'callbackLeasedUntil', formatInteger(lease))
local fields = redis.call('HMGET', jobKey, 'space', 'name', 'status', 'attempt', 'callbackUrl', 'callbackHeaders', 'result', 'error', 'killReason', 'updatedAt', 'order')
return { 'OK', nowText, callback.attempts + 1, formatInteger(lease), fields }
`,
} as const;

export const record_callback = {
  name: 'record_callback', sha1: '708685f1235329bb854464a967db7adb2ee0c32d',
  keyCount: 1,
  parameters: ({ keys, args }: { keys: { jobKey: string }; args: { base: ScriptArgument; jobId: ScriptArgument; series: ScriptArgument; lease: ScriptArgument; eventType: ScriptArgument; data: ScriptArgument; retryMs: ScriptArgument; againMs: ScriptArgument; eventsPerJob: ScriptArgument } }): ScriptArgument[] => [keys.jobKey, args.base, args.jobId, args.series, args.lease, args.eventType, args.data, args.retryMs, args.againMs, args.eventsPerJob],
  decode: (r: unknown[]) => (r[0] === 'OK' ? { outcome: 'OK' as const } : { outcome: 'NOT_PENDING' as const }),
  text: `${lua.stored}\n${lua.loadJob}\n${lua.loadCallback}\n${lua.formatInteger}\n${lua.now}\n${lua.replaceEntry}\n${lua.postpone}\nlocal function appendEvent(job, at, type, data, eventsPerJob)
  local history = job.key .. ':events'
  local kept = (data == 'null' or type == 'completed') and '' or ',' .. data
  local entry = '["' .. type .. '",' .. at .. kept .. ']'
  local length = job.isNew and 0 or redis.call('RPUSHX', history, entry)
  local impliedSeq = type == 'delivered' and '2' or type == 'acked' and '3' or type == 'completed' and '4'
  if length == 0 and not impliedSeq then
${lua.impliedEntries}\n    local entries = impliedEntries(job.key, job.status)
    entries[#entries + 1] = entry
    length = redis.call('RPUSH', history, unpack(entries))
  end
  if length > 0 then
${lua.keepNewest}\n    return formatInteger(keepNewest(job, history, length, eventsPerJob))
  end
  return impliedSeq
end
${lua.quote}\n${lua.eventMessage}\n${lua.publish}\nlocal jobKey = KEYS[1]
local base, jobId, series, lease, eventType, data, retryMs, againMs, eventsPerJob = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8], ARGV[9]
local job = loadJob(jobKey, base, jobId)
local callback = loadCallback(job)
if not callback or formatInteger(callback.leasedUntil) ~= lease then return { 'NOT_PENDING' } end
local nowMs, nowText = now()
if callback.series ~= tonumber(series) then
${lua.enqueueCallback}\n  postpone(job, nowMs)
  enqueueCallback(job, nowMs)
elseif retryMs == '' then
  redis.call('ZREM', base .. 'callbacks', jobId)
  redis.call('HDEL', jobKey, 'callbackDueAt')
else
  local due = nowMs + tonumber(retryMs)
  postpone(job, due + tonumber(againMs))
  redis.call('HSET', jobKey, 'callbackDueAt', formatInteger(due))
end
redis.call('HSET', jobKey, 'callbackAttempts', formatInteger(callback.attempts + 1))
redis.call('HDEL', jobKey, 'callbackLeasedUntil')
local seq = appendEvent(job, nowText, eventType, data, eventsPerJob)
publish(job, seq, eventType, job.status, nowText, data)
return { 'OK' }
`,
} as const;

export const redeliver_callback = {
  name: 'redeliver_callback', sha1: '2348c2e1b6c707a9e87f0305bf9362d1356ca958',
  keyCount: 1,
  parameters: ({ keys, args }: { keys: { jobKey: string }; args: { base: ScriptArgument; jobId: ScriptArgument; keySpaceId: ScriptArgument } }): ScriptArgument[] => [keys.jobKey, args.base, args.jobId, args.keySpaceId],
  decode: () => ({}),
  text: `${lua.stored}\n${lua.loadJob}\n${lua.refusalFor}\n${lua.wantsCallback}\n${lua.now}\n${lua.formatInteger}\n${lua.enqueueCallback}\nlocal jobKey = KEYS[1]
local base, jobId, keySpaceId = ARGV[1], ARGV[2], ARGV[3]
local job = loadJob(jobKey, base, jobId)
local refusal = refusalFor(job.status, job.space, keySpaceId)
if refusal then return { refusal } end
if job.status ~= 'completed' and job.status ~= 'dead' and job.status ~= 'killed' then return { 'JOB_NOT_ENDED', job.status } end
local v = redis.call('HMGET', jobKey, 'callbackUrl', 'callbackOn', 'callbackAttempts', 'callbackLeasedUntil')
if not wantsCallback(job.status, v[1], v[2]) then return { 'NO_CALLBACK', job.status } end
local nowMs, nowText = now()
local isBeingMade = tonumber(stored(v[4]) or 0) > nowMs
local series = tonumber(stored(v[3]) or 0) + (isBeingMade and 1 or 0)
redis.call('HSET', jobKey, 'callbackRound', formatInteger(series), 'callbackDueAt', nowText)
if not isBeingMade then redis.call('HDEL', jobKey, 'callbackLeasedUntil') end
enqueueCallback(job, nowMs)
return { 'OK' }
`,
} as const;

export const relay_callbacks = {
  name: 'relay_callbacks', sha1: '2a8f728ece1a8908b091687620f8fc72a123721a',
  keyCount: 1,
  parameters: ({ keys, args }: { keys: { callbacks: string }; args: { base: ScriptArgument; limit: ScriptArgument; againMs: ScriptArgument; atMostMs: ScriptArgument } }): ScriptArgument[] => [keys.callbacks, args.base, args.limit, args.againMs, args.atMostMs],
  decode: (r: unknown[]) => ({ examined: Number(r[1]), due: r[2] as string[] }),
  text: `${lua.now}\n${lua.stored}\n${lua.loadJob}\n${lua.loadCallback}\n${lua.replaceEntry}\n${lua.formatInteger}\n${lua.postpone}\nlocal callbacks = KEYS[1]
local base, limit, againMs, atMostMs = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local nowMs, nowText = now()
local ids = redis.call('ZRANGEBYSCORE', callbacks, '-inf', nowText, 'LIMIT', 0, limit)
local due = {}
for _, id in ipairs(ids) do
  local job, url = loadJob(base .. 'job:' .. id, base, id, 'callbackUrl')
  local callback = loadCallback(job)
  if callback then
    local since = callback.due > 0 and callback.due or tonumber(redis.call('HGET', job.key, 'updatedAt'))
    local waitedMs = nowMs - since
    postpone(job, nowMs + math.min(math.max(waitedMs, tonumber(againMs)), tonumber(atMostMs)))
    for _, value in ipairs({ id, formatInteger(callback.series), stored(url) or '', formatInteger(waitedMs) }) do due[#due + 1] = value end
  else
    redis.call('ZREM', callbacks, id)
  end
end
return { 'OK', #ids, { unpack(due) } }
`,
} as const;

export const bring_back = {
  name: 'bring_back', sha1: 'de3518c1ad699838dc93288eff38aad8eb9177f3',
  keyCount: 1,
  parameters: ({ keys, args }: { keys: { index: string }; args: { base: ScriptArgument; afterOrder: ScriptArgument; limit: ScriptArgument; deliveryTimeoutMs: ScriptArgument } }): ScriptArgument[] => [keys.index, args.base, args.afterOrder, args.limit, args.deliveryTimeoutMs],
  decode: (r: unknown[]) => ({ examined: Number(r[1]), lastOrder: r[2] as string, reopened: Number(r[3]) }),
  text: `${lua.now}\n${lua.stored}\n${lua.loadJob}\n${lua.executionMs}\n${lua.deliveryMs}\n${lua.windowMs}\n${lua.formatInteger}\n${lua.startRun}\n${lua.openWindow}\n${lua.reopenWindow}\nlocal index = KEYS[1]
local base, afterOrder, limit, deliveryTimeoutMs = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local nowMs = now()
local markedAt = tonumber(stored(redis.call('GET', base .. 'stepped')) or 0)
local function reopenIfAhead(id)
  local job, deliveredAt, maxRunSeconds, runBy, ackWithinMs =
    loadJob(base .. 'job:' .. id, base, id, 'deliveredAt', 'maxRunSeconds', 'runBy', 'ackWithinMs')
  if job.status ~= 'delivered' and job.status ~= 'running' then return 0 end
  local ms = windowMs(job, stored(ackWithinMs) or deliveryTimeoutMs)
  local due = tonumber(stored(redis.call('ZSCORE', base .. 'deadlines', id)) or 0)
  local isRunAhead = job.status == 'running' and stored(maxRunSeconds) and stored(runBy)
    and tonumber(runBy) > nowMs + math.ceil(maxRunSeconds * 1000)
  if due <= nowMs + ms and not isRunAhead then return 0 end
  if job.status == 'delivered' and tonumber(deliveredAt) <= nowMs and markedAt <= nowMs then return 0 end
  if isRunAhead then runBy = startRun(job, nowMs, maxRunSeconds) end
  reopenWindow(job, nowMs, ms, runBy)
  return 1
end
local page = redis.call('ZRANGEBYSCORE', index, '(' .. afterOrder, '+inf', 'WITHSCORES', 'LIMIT', 0, limit)
local reopened = 0
for i = 1, #page, 2 do
  local ok, count = pcall(reopenIfAhead, page[i])
  if ok then reopened = reopened + count end
end
return { 'OK', #page / 2, page[#page] or afterOrder, reopened }
`,
} as const;

export const expire = {
  name: 'expire', sha1: 'bb3d6520eb8710431f2c41a4be039360094f0985',
  keyCount: 1,
  parameters: ({ keys, args }: { keys: { deadlines: string }; args: { base: ScriptArgument; limit: ScriptArgument; maxDeliveries: ScriptArgument; eventsPerJob: ScriptArgument; retentionMs: ScriptArgument; deliveryTimeoutMs: ScriptArgument; dueBefore: ScriptArgument; random: ScriptArgument } }): ScriptArgument[] => [keys.deadlines, args.base, args.limit, args.maxDeliveries, args.eventsPerJob, args.retentionMs, args.deliveryTimeoutMs, args.dueBefore, args.random],
  decode: (r: unknown[]) => ({ examined: Number(r[1]), counts: (r[2] as unknown[]).map(Number), lagMs: Number(r[3]), broken: r[4] as string[], ended: r[5] as string[] }),
  text: `${lua.now}\n${lua.stored}\n${lua.lastStep}\n${lua.loadJob}\n${lua.executionMs}\n${lua.deliveryMs}\n${lua.windowMs}\n${lua.formatInteger}\n${lua.startRun}\n${lua.openWindow}\n${lua.reopenWindow}\n${lua.reopenIfCutShort}\n${lua.startLimit}\n${lua.isStartCutShort}\n${lua.isStartOver}\n${lua.moveToStatusIndex}\n${lua.startRetention}\n${lua.retentionIn}\n${lua.settingsText}\n${lua.dequeue}\n${lua.leaveWaiting}\n${lua.wantsCallback}\n${lua.enqueueCallback}\n${lua.uniqueEntry}\n${lua.freeUnique}\nlocal function appendEvent(job, at, type, data, eventsPerJob)
  local history = job.key .. ':events'
  local kept = (data == 'null' or type == 'completed') and '' or ',' .. data
  local entry = '["' .. type .. '",' .. at .. kept .. ']'
  local length = job.isNew and 0 or redis.call('RPUSHX', history, entry)
  local impliedSeq = type == 'delivered' and '2' or type == 'acked' and '3' or type == 'completed' and '4'
  if length == 0 and not impliedSeq then
${lua.impliedEntries}\n    local entries = impliedEntries(job.key, job.status)
    entries[#entries + 1] = entry
    length = redis.call('RPUSH', history, unpack(entries))
  end
  if length > 0 then
${lua.keepNewest}\n    return formatInteger(keepNewest(job, history, length, eventsPerJob))
  end
  return impliedSeq
end
${lua.quote}\n${lua.eventMessage}\n${lua.publish}\n${lua.recordEvent}\n${lua.makeDead}\n${lua.failStart}\n${lua.nextOrder}\n${lua.wake}\n${lua.enqueue}\n${lua.queueScore}\n${lua.enterWaiting}\n${lua.returnToWaiting}\n${lua.recordReturn}\n${lua.nextTakeBacks}\n${lua.failDelivery}\n${lua.spread}\n${lua.retryDelayMs}\n${lua.isoText}\n${lua.scheduledData}\n${lua.failAttempt}\n${lua.tagIndex}\n${lua.leaveTags}\nlocal function purge(job, nowMs, unique)
  local deadlines = job.base .. 'deadlines'
  if redis.call('ZSCORE', job.base .. 'callbacks', job.id) then
${lua.replaceEntry}\n    replaceEntry(deadlines, job.id, formatInteger(nowMs + 60000))
    return false
  end
  local space = job.base .. 'space:' .. job.space
  redis.call('ZREM', deadlines, job.id)
  redis.call('ZREM', space .. '/jobs', job.id)
  redis.call('ZREM', space .. '/status/' .. job.status, job.id)
  if tonumber(redis.call('ZINCRBY', space .. '/names', -1, job.name)) <= 0 then redis.call('ZREM', space .. '/names', job.name) end
  if stored(unique) then freeUnique(job, unique) end
  leaveTags(job)
  redis.call('UNLINK', job.key, job.key .. ':events', job.key .. ':logs')
  if redis.call('ZCARD', space .. '/jobs') == 0 then redis.call('ZREM', job.base .. 'spaces', job.space) end
  return true
end
${lua.IS_STATUS}\n${lua.replaceEntry}\n${lua.sweep}\nlocal deadlines = KEYS[1]
local base, limit, maxDeliveries, eventsPerJob, retentionMs, deliveryTimeoutMs, dueBefore, random = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8]
local nowMs = now()
local DELIVERED = { pending = 1, dead = 2 }
local FAILED = { pending = 3, scheduled = 4, dead = 5 }
local PURGED = { completed = 6, dead = 7, killed = 8 }
local REOPENED = 9
local counts, lagMs = { 0, 0, 0, 0, 0, 0, 0, 0, 0 }, nil
local steppedAt, ended = lastStep(base, nowMs), {}
local function expireOne(id, due, n)
  local job, timeouts, takeBacks, deliveredAt, unique, startBy, startWithin, maxRunSeconds, runBy, retry, priority, ackWithinMs, startedAt =
    loadJob(base .. 'job:' .. id, base, id, 'deliveryTimeouts', 'takeBacks', 'deliveredAt', 'unique', 'startBy',
      'startWithinSeconds', 'maxRunSeconds', 'runBy', 'retry', 'priority', 'ackWithinMs', 'startedAt')
  if reopenIfCutShort(job, due, steppedAt, nowMs, stored(ackWithinMs) or deliveryTimeoutMs, { maxRunSeconds, runBy }) then return REOPENED end
  lagMs = lagMs or nowMs - due
  if job.status == 'delivered' then
    local ackWindowMs = math.max(due - (tonumber(stored(deliveredAt)) or due), 0)
    local delivery = { timeouts = timeouts, takeBacks = takeBacks, windowMs = ackWindowMs,
      startBy = startBy, startWithin = startWithin, priority = priority }
    return DELIVERED[failDelivery(job, delivery, nowMs, maxDeliveries, eventsPerJob, retentionMs)], job, 0
  elseif job.status == 'running' then
    local errorJson = '"Job timed out after ' .. job.timeoutSeconds .. ' seconds without a heartbeat"'
    if stored(runBy) and due >= tonumber(runBy) then errorJson = '"Job ran longer than ' .. maxRunSeconds .. ' seconds"' end
    local again = { retry = retry, priority = priority, random = spread(random, n) }
    return FAILED[failAttempt(job, nowMs, errorJson, eventsPerJob, retentionMs, again)], job, nowMs - (stored(startedAt) or nowMs)
  elseif PURGED[job.status or ''] then
    return purge(job, nowMs, unique) and PURGED[job.status]
  elseif job.status and not IS_STATUS[job.status] then
    error('unknown status')
  end
  redis.call('ZREM', deadlines, id)
end
local examined, broken = sweep(deadlines, math.min(nowMs, tonumber(dueBefore)), limit, nowMs, function(id, due, n)
  local count, job, runMs = expireOne(id, due, n)
  if count then counts[count] = counts[count] + 1 end
  if job then for _, value in ipairs({ job.space, job.name, formatInteger(count), formatInteger(runMs) }) do ended[#ended + 1] = value end end
end)
return { 'OK', examined, { unpack(counts) }, lagMs or 0, { unpack(broken) }, { unpack(ended) } }
`,
} as const;

export const mark_step = {
  name: 'mark_step', sha1: '03d25b09b39bc5096b2b655a3a14e53ac63272a5',
  keyCount: 1,
  parameters: ({ keys, args }: { keys: { stepped: string }; args: { readAt: ScriptArgument } }): ScriptArgument[] => [keys.stepped, args.readAt],
  decode: (r: unknown[]) => ({ marked: Number(r[1]) }),
  text: `${lua.now}\n${lua.stored}\nlocal stepped = KEYS[1]
local readAt = ARGV[1]
local nowMs, nowText = now()
local known = tonumber(stored(redis.call('GET', stepped)) or 0)
if known > tonumber(readAt) and known <= nowMs then return { 'OK', 0 } end
redis.call('DEL', stepped)
redis.call('SET', stepped, nowText)
return { 'OK', 1 }
`,
} as const;

export const promote = {
  name: 'promote', sha1: '208be01a564ddbb7bf122f63c039d00d0dd4d1dd',
  keyCount: 1,
  parameters: ({ keys, args }: { keys: { due: string }; args: { base: ScriptArgument; limit: ScriptArgument; eventsPerJob: ScriptArgument; retentionMs: ScriptArgument; dueBefore: ScriptArgument } }): ScriptArgument[] => [keys.due, args.base, args.limit, args.eventsPerJob, args.retentionMs, args.dueBefore],
  decode: (r: unknown[]) => ({ examined: Number(r[1]), counts: (r[2] as unknown[]).map(Number), lagMs: Number(r[3]), broken: r[4] as string[], dead: r[5] as string[] }),
  text: `${lua.now}\n${lua.stored}\n${lua.lastStep}\n${lua.loadJob}\n${lua.IS_STATUS}\n${lua.startLimit}\n${lua.isStartCutShort}\n${lua.moveToStatusIndex}\nlocal function startRetention(job, nowMs, retentionMs)
  if tonumber(retentionMs) > 0 then
${lua.formatInteger}\n    redis.call('ZADD', job.base .. 'deadlines', formatInteger(nowMs + tonumber(retentionMs)), job.id)
  else
    redis.call('ZREM', job.base .. 'deadlines', job.id)
    redis.call('HSET', job.key, 'kept', '1')
  end
end
${lua.retentionIn}\n${lua.settingsText}\n${lua.dequeue}\n${lua.leaveWaiting}\n${lua.wantsCallback}\n${lua.formatInteger}\n${lua.enqueueCallback}\n${lua.uniqueEntry}\n${lua.freeUnique}\nlocal function appendEvent(job, at, type, data, eventsPerJob)
  local history = job.key .. ':events'
  local kept = (data == 'null' or type == 'completed') and '' or ',' .. data
  local entry = '["' .. type .. '",' .. at .. kept .. ']'
  local length = job.isNew and 0 or redis.call('RPUSHX', history, entry)
  local impliedSeq = type == 'delivered' and '2' or type == 'acked' and '3' or type == 'completed' and '4'
  if length == 0 and not impliedSeq then
${lua.impliedEntries}\n    local entries = impliedEntries(job.key, job.status)
    entries[#entries + 1] = entry
    length = redis.call('RPUSH', history, unpack(entries))
  end
  if length > 0 then
${lua.keepNewest}\n    return formatInteger(keepNewest(job, history, length, eventsPerJob))
  end
  return impliedSeq
end
${lua.quote}\n${lua.eventMessage}\n${lua.publish}\n${lua.recordEvent}\n${lua.makeDead}\n${lua.failStart}\n${lua.wake}\n${lua.enqueue}\n${lua.queueScore}\n${lua.enterWaiting}\n${lua.nextOrder}\n${lua.replaceEntry}\n${lua.sweep}\nlocal due = KEYS[1]
local base, limit, eventsPerJob, retentionMs, dueBefore = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local nowMs, nowText = now()
local READY, DEAD = 1, { scheduled = 2, pending = 3 }
local counts, lagMs, dead = { 0, 0, 0 }, 0, {}
local before, steppedAt = math.min(nowMs, tonumber(dueBefore)), lastStep(base, nowMs)
local function promoteOne(id, n)
  local job, scheduledFor, priority, within, startBy = loadJob(base .. 'job:' .. id, base, id, 'scheduledFor', 'priority', 'startWithinSeconds', 'startBy')
  local status = job.status
  if status ~= 'scheduled' and status ~= 'pending' and status ~= 'delivered' then
    if status and not IS_STATUS[status] then error('unknown status') end
    return nil
  end
  local limit = startLimit(job, startBy)
  if limit and limit < before then
    if not isStartCutShort(limit, within, steppedAt) then
      if status == 'delivered' then return nil end
      failStart(job, nowMs, within, eventsPerJob, retentionMs)
      dead[#dead + 1], dead[#dead + 2] = job.space, job.name
      return DEAD[status]
    end
    limit = nowMs + math.ceil(within * 1000)
    startBy = formatInteger(limit)
    redis.call('HSET', job.key, 'startBy', startBy)
  end
  if status == 'scheduled' and tonumber(scheduledFor) < before then
    moveToStatusIndex(job, 'pending')
    enterWaiting(job, nowMs, nil, nextOrder(base, job.space, nowMs * 1024 + n), { priority, within, startBy })
    recordEvent(job, nowText, 'ready', 'pending', 'null', eventsPerJob)
    return READY
  end
  local at = math.min(status == 'scheduled' and tonumber(scheduledFor) or math.huge, limit or math.huge)
  if at < math.huge then redis.call('ZADD', due, formatInteger(at), id) end
end
local examined, broken = sweep(due, before, limit, nowMs, function(id, at, n)
  redis.call('ZREM', due, id)
  local count = promoteOne(id, n)
  if not count then return end
  counts[count] = counts[count] + 1
  lagMs = math.max(lagMs, nowMs - at)
end)
return { 'OK', examined, { unpack(counts) }, lagMs, { unpack(broken) }, { unpack(dead) } }
`,
} as const;

export const add_history = {
  name: 'add_history', sha1: '53fc53f580c187877cbac3061caafdc257b321aa',
  keyCount: 1,
  parameters: ({ keys, args, rest }: { keys: { counted: string }; args: { base: ScriptArgument; seq: ScriptArgument; agoMs: ScriptArgument }; rest: readonly ScriptArgument[] }): ScriptArgument[] => [keys.counted, args.base, args.seq, args.agoMs, ...rest],
  decode: () => ({}),
  text: `${lua.stored}\n${lua.formatInteger}\n${lua.now}\nlocal counted = KEYS[1]
local base, seq, agoMs = ARGV[1], ARGV[2], ARGV[3]
local cells = { unpack(ARGV, 4) }
if tonumber(stored(redis.call('GET', counted)) or 0) >= tonumber(seq) then return { 'OK' } end
redis.call('SET', counted, seq, 'EX', '86400')
local OTHER_NAMES = '*'
local function sumOf(text, other)
  local sums, places, parts = {}, {}, {}
  for place, number in string.gmatch(text .. ' ' .. other, '(%d+) (%d+)') do
    if not sums[place] then places[#places + 1] = place end
    sums[place] = (sums[place] or 0) + number
  end
  for i, place in ipairs(places) do parts[i] = place .. ' ' .. formatInteger(sums[place]) end
  return table.concat(parts, ' ')
end
local function addTo(point, name, text, keptSeconds)
  local before = stored(redis.call('HGET', point, name))
  if not before and name ~= OTHER_NAMES and redis.call('HLEN', point) >= 100 then
    name = OTHER_NAMES
    before = stored(redis.call('HGET', point, name))
  end
  redis.call('HSET', point, name, before and sumOf(before, text) or text)
  redis.call('EXPIRE', point, keptSeconds)
end
local seconds = math.floor((now() - agoMs) / 1000)
for i = 1, #cells, 3 do
  local space, name, text = cells[i], cells[i + 1], cells[i + 2]
  local history = base .. 'space:' .. space .. '/history/'
  addTo(history .. '60/' .. formatInteger(seconds - seconds % 60), name, text, '172800')
  addTo(history .. '3600/' .. formatInteger(seconds - seconds % 3600), name, text, '3024000')
end
return { 'OK' }
`,
} as const;

export const read_history = {
  name: 'read_history', sha1: '2a7f87fdf2f0de8d8d3fe45b3a10481ecbaf8e31',
  keyCount: 1,
  parameters: ({ keys, args, rest }: { keys: { jobs: string }; args: { history: ScriptArgument }; rest: readonly ScriptArgument[] }): ScriptArgument[] => [keys.jobs, args.history, ...rest],
  decode: (r: unknown[]) => ({ points: r[1] as string[][] }),
  text: `local jobs = KEYS[1]
local history = ARGV[1]
local times = { unpack(ARGV, 2) }
local points = {}
for i, time in ipairs(times) do points[i] = redis.call('HGETALL', history .. time) end
return { 'OK', { unpack(points) } }
`,
} as const;

export const ack = {
  name: 'ack', sha1: '1a89ed72dcfc950a20688270fe92a092e9d5a658',
  keyCount: 1,
  parameters: ({ keys, args }: { keys: { jobKey: string }; args: { base: ScriptArgument; jobId: ScriptArgument; keySpaceId: ScriptArgument; deliveryToken: ScriptArgument; eventsPerJob: ScriptArgument } }): ScriptArgument[] => [keys.jobKey, args.base, args.jobId, args.keySpaceId, args.deliveryToken, args.eventsPerJob],
  decode: (r: unknown[]) => (r[0] === 'OK' ? { outcome: 'OK' as const, attempt: Number(r[1]) } : { outcome: 'UNCHANGED' as const }),
  text: `${lua.stored}\n${lua.loadJob}\n${lua.tokenFields}\n${lua.refusalFor}\n${lua.now}\n${lua.moveToStatusIndex}\n${lua.formatInteger}\n${lua.openWindow}\n${lua.executionMs}\nlocal function startAttempt(job, nowMs, unique, maxRunSeconds, startBy, timeouts)
  moveToStatusIndex(job, 'running')
  local runBy = nil
  if stored(maxRunSeconds) then
${lua.startRun}\n    runBy = startRun(job, nowMs, maxRunSeconds)
  end
  openWindow(job, nowMs, executionMs(job), runBy)
  if stored(startBy) then
    redis.call('ZREM', job.base .. 'due', job.id)
    redis.call('HSET', job.key, 'startBy', '0')
  end
  if stored(unique) and string.find(unique, '^started ') then
${lua.uniqueEntry}\n${lua.freeUnique}\n    freeUnique(job, unique)
    redis.call('HSET', job.key, 'uniqueFreed', '1')
  end
  if stored(timeouts) then redis.call('HDEL', job.key, 'deliveryTimeouts') end
end
local function appendEvent(job, at, type, data, eventsPerJob)
  local history = job.key .. ':events'
  local kept = (data == 'null' or type == 'completed') and '' or ',' .. data
  local entry = '["' .. type .. '",' .. at .. kept .. ']'
  local length = job.isNew and 0 or redis.call('RPUSHX', history, entry)
  local impliedSeq = type == 'delivered' and '2' or type == 'acked' and '3' or type == 'completed' and '4'
  if length == 0 and not impliedSeq then
${lua.impliedEntries}\n    local entries = impliedEntries(job.key, job.status)
    entries[#entries + 1] = entry
    length = redis.call('RPUSH', history, unpack(entries))
  end
  if length > 0 then
${lua.keepNewest}\n    return formatInteger(keepNewest(job, history, length, eventsPerJob))
  end
  return impliedSeq
end
${lua.quote}\n${lua.eventMessage}\n${lua.publish}\n${lua.recordEvent}\nlocal jobKey = KEYS[1]
local base, jobId, keySpaceId, deliveryToken, eventsPerJob = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local job, unique, maxRunSeconds, startBy, timeouts, takeBacks =
  loadJob(jobKey, base, jobId, 'unique', 'maxRunSeconds', 'startBy', 'deliveryTimeouts', tokenFields(deliveryToken))
local refusal = refusalFor(job.status, job.space, keySpaceId)
if refusal then return { refusal } end
if deliveryToken ~= '' then
${lua.deliveryOf}\n${lua.replyToToken}\n  local reply = replyToToken(job, deliveryToken, 'running', takeBacks, timeouts)
  if reply then return reply end
end
if job.status ~= 'delivered' then
${lua.missedWindow}\n  return { 'JOB_NOT_DELIVERED', job.status, missedWindow(job) }
end
local nowMs, nowText = now()
local attempt = job.attempt + 1
startAttempt(job, nowMs, unique, maxRunSeconds, startBy, timeouts)
recordEvent(job, nowText, 'acked', 'running', 'null', eventsPerJob, 'startedAt', nowText, 'attempt', formatInteger(attempt))
return { 'OK', attempt }
`,
} as const;

export const complete = {
  name: 'complete', sha1: 'a7ab0ba17b271c0d4f55dcb34b7677cd969670ab',
  keyCount: 1,
  parameters: ({ keys, args }: { keys: { jobKey: string }; args: { base: ScriptArgument; jobId: ScriptArgument; keySpaceId: ScriptArgument; deliveryToken: ScriptArgument; result: ScriptArgument; eventsPerJob: ScriptArgument; retentionMs: ScriptArgument; mayDiffer: ScriptArgument } }): ScriptArgument[] => [keys.jobKey, args.base, args.jobId, args.keySpaceId, args.deliveryToken, args.result, args.eventsPerJob, args.retentionMs, args.mayDiffer],
  decode: (r: unknown[]) => (r[0] === 'OK' ? { outcome: 'OK' as const, attempt: Number(r[1]), space: r[2] as string, runMs: Number(r[3]), name: r[4] as string } : { outcome: 'UNCHANGED' as const }),
  text: `${lua.stored}\n${lua.loadJob}\n${lua.tokenFields}\n${lua.refusalFor}\n${lua.now}\n${lua.moveToStatusIndex}\n${lua.settingsText}\nlocal function startRetention(job, nowMs, retentionMs)
  if tonumber(retentionMs) > 0 then
${lua.formatInteger}\n    redis.call('ZADD', job.base .. 'deadlines', formatInteger(nowMs + tonumber(retentionMs)), job.id)
  else
    redis.call('ZREM', job.base .. 'deadlines', job.id)
    redis.call('HSET', job.key, 'kept', '1')
  end
end
local function appendEvent(job, at, type, data, eventsPerJob)
  local history = job.key .. ':events'
  local kept = (data == 'null' or type == 'completed') and '' or ',' .. data
  local entry = '["' .. type .. '",' .. at .. kept .. ']'
  local length = job.isNew and 0 or redis.call('RPUSHX', history, entry)
  local impliedSeq = type == 'delivered' and '2' or type == 'acked' and '3' or type == 'completed' and '4'
  if length == 0 and not impliedSeq then
${lua.impliedEntries}\n    local entries = impliedEntries(job.key, job.status)
    entries[#entries + 1] = entry
    length = redis.call('RPUSH', history, unpack(entries))
  end
  if length > 0 then
${lua.formatInteger}\n${lua.keepNewest}\n    return formatInteger(keepNewest(job, history, length, eventsPerJob))
  end
  return impliedSeq
end
${lua.quote}\n${lua.eventMessage}\n${lua.publish}\n${lua.recordEvent}\nlocal jobKey = KEYS[1]
local base, jobId, keySpaceId, deliveryToken, result, eventsPerJob, retentionMs, mayDiffer = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8]
local job, callbackUrl, callbackOn, unique, startedAt, takeBacks, timeouts =
  loadJob(jobKey, base, jobId, 'callbackUrl', 'callbackOn', 'unique', 'startedAt', tokenFields(deliveryToken))
local refusal = refusalFor(job.status, job.space, keySpaceId)
if refusal then return { refusal } end
if deliveryToken ~= '' then
${lua.deliveryOf}\n${lua.replyToToken}\n  local reply = replyToToken(job, deliveryToken, 'completed', takeBacks, timeouts)
  if reply then return reply end
end
if job.status ~= 'running' then return { 'JOB_NOT_RUNNING', job.status } end
local nowMs, nowText = now()
moveToStatusIndex(job, 'completed')
if stored(unique) then
${lua.uniqueEntry}\n${lua.freeUnique}\n  freeUnique(job, unique, 'expired')
end
local settings = mayDiffer ~= '' and settingsText(base, job.space)
if stored(settings) then
${lua.retentionIn}\n  retentionMs = retentionIn(settings, 'completed', retentionMs)
end
startRetention(job, nowMs, retentionMs)
if stored(callbackUrl) then
${lua.wantsCallback}\n${lua.formatInteger}\n${lua.enqueueCallback}\n  if wantsCallback('completed', callbackUrl, callbackOn) then enqueueCallback(job, nowMs) end
end
recordEvent(job, nowText, 'completed', 'completed', result, eventsPerJob, 'result', result)
return { 'OK', job.attempt, job.space, nowMs - (stored(startedAt) or nowMs), job.name }
`,
} as const;

export const fail = {
  name: 'fail', sha1: 'a881d24a47f2c089c4f9079f62ec4b78d7eeaf92',
  keyCount: 1,
  parameters: ({ keys, args }: { keys: { jobKey: string }; args: { base: ScriptArgument; jobId: ScriptArgument; keySpaceId: ScriptArgument; deliveryToken: ScriptArgument; errorJson: ScriptArgument; isRetryable: ScriptArgument; retryAfterMs: ScriptArgument; random: ScriptArgument; eventsPerJob: ScriptArgument; retentionMs: ScriptArgument } }): ScriptArgument[] => [keys.jobKey, args.base, args.jobId, args.keySpaceId, args.deliveryToken, args.errorJson, args.isRetryable, args.retryAfterMs, args.random, args.eventsPerJob, args.retentionMs],
  decode: (r: unknown[]) => (r[0] === 'OK' ? { outcome: 'OK' as const, status: r[1] as Status, attempt: Number(r[2]), space: r[3] as string, runMs: Number(r[4]), name: r[5] as string } : { outcome: 'UNCHANGED' as const }),
  text: `${lua.stored}\n${lua.loadJob}\n${lua.tokenFields}\n${lua.refusalFor}\n${lua.now}\n${lua.moveToStatusIndex}\nlocal function startRetention(job, nowMs, retentionMs)
  if tonumber(retentionMs) > 0 then
${lua.formatInteger}\n    redis.call('ZADD', job.base .. 'deadlines', formatInteger(nowMs + tonumber(retentionMs)), job.id)
  else
    redis.call('ZREM', job.base .. 'deadlines', job.id)
    redis.call('HSET', job.key, 'kept', '1')
  end
end
${lua.retentionIn}\n${lua.settingsText}\n${lua.dequeue}\n${lua.leaveWaiting}\n${lua.wantsCallback}\n${lua.formatInteger}\n${lua.enqueueCallback}\n${lua.uniqueEntry}\n${lua.freeUnique}\nlocal function appendEvent(job, at, type, data, eventsPerJob)
  local history = job.key .. ':events'
  local kept = (data == 'null' or type == 'completed') and '' or ',' .. data
  local entry = '["' .. type .. '",' .. at .. kept .. ']'
  local length = job.isNew and 0 or redis.call('RPUSHX', history, entry)
  local impliedSeq = type == 'delivered' and '2' or type == 'acked' and '3' or type == 'completed' and '4'
  if length == 0 and not impliedSeq then
${lua.impliedEntries}\n    local entries = impliedEntries(job.key, job.status)
    entries[#entries + 1] = entry
    length = redis.call('RPUSH', history, unpack(entries))
  end
  if length > 0 then
${lua.keepNewest}\n    return formatInteger(keepNewest(job, history, length, eventsPerJob))
  end
  return impliedSeq
end
${lua.quote}\n${lua.eventMessage}\n${lua.publish}\n${lua.recordEvent}\n${lua.makeDead}\n${lua.retryDelayMs}\n${lua.nextOrder}\n${lua.startLimit}\n${lua.wake}\n${lua.enqueue}\n${lua.queueScore}\n${lua.enterWaiting}\n${lua.returnToWaiting}\n${lua.isoText}\n${lua.scheduledData}\n${lua.recordReturn}\n${lua.failAttempt}\nlocal jobKey = KEYS[1]
local base, jobId, keySpaceId, deliveryToken, errorJson, isRetryable, retryAfterMs, random, eventsPerJob, retentionMs = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8], ARGV[9], ARGV[10]
local job, retry, priority, startedAt, takeBacks, timeouts =
  loadJob(jobKey, base, jobId, 'retry', 'priority', 'startedAt', tokenFields(deliveryToken))
local refusal = refusalFor(job.status, job.space, keySpaceId)
if refusal then return { refusal } end
if deliveryToken ~= '' then
${lua.deliveryOf}\n${lua.replyToGivingUp}\n  local reply = replyToGivingUp(job, deliveryToken, takeBacks, timeouts)
  if reply then return reply end
end
if job.status ~= 'running' then return { 'JOB_NOT_RUNNING', job.status } end
local nowMs, status = now(), nil
if isRetryable == '0' then
  status = makeDead(job, nowMs, errorJson, eventsPerJob, retentionMs)
else
  local again = { retry = retry, priority = priority, delayMs = tonumber(retryAfterMs), random = random }
  status = failAttempt(job, nowMs, errorJson, eventsPerJob, retentionMs, again)
end
return { 'OK', status, job.attempt, job.space, nowMs - (stored(startedAt) or nowMs), job.name }
`,
} as const;

export const heartbeat = {
  name: 'heartbeat', sha1: 'bc103efa58f9c20ec34561fac289612362bc087c',
  keyCount: 1,
  parameters: ({ keys, args }: { keys: { jobKey: string }; args: { base: ScriptArgument; jobId: ScriptArgument; keySpaceId: ScriptArgument; deliveryToken: ScriptArgument; kind: ScriptArgument; data: ScriptArgument; eventsPerJob: ScriptArgument } }): ScriptArgument[] => [keys.jobKey, args.base, args.jobId, args.keySpaceId, args.deliveryToken, args.kind, args.data, args.eventsPerJob],
  decode: (r: unknown[]) => ({ attempt: Number(r[1]) }),
  text: `${lua.stored}\n${lua.loadJob}\n${lua.tokenFields}\n${lua.refusalFor}\n${lua.now}\n${lua.knownFull}\n${lua.isMemoryFull}\n${lua.formatInteger}\n${lua.openWindow}\n${lua.reopenWindow}\n${lua.executionMs}\nlocal function appendEvent(job, at, type, data, eventsPerJob)
  local history = job.key .. ':events'
  local kept = (data == 'null' or type == 'completed') and '' or ',' .. data
  local entry = '["' .. type .. '",' .. at .. kept .. ']'
  local length = job.isNew and 0 or redis.call('RPUSHX', history, entry)
  local impliedSeq = type == 'delivered' and '2' or type == 'acked' and '3' or type == 'completed' and '4'
  if length == 0 and not impliedSeq then
${lua.impliedEntries}\n    local entries = impliedEntries(job.key, job.status)
    entries[#entries + 1] = entry
    length = redis.call('RPUSH', history, unpack(entries))
  end
  if length > 0 then
${lua.keepNewest}\n    return formatInteger(keepNewest(job, history, length, eventsPerJob))
  end
  return impliedSeq
end
${lua.quote}\n${lua.eventMessage}\n${lua.publish}\n${lua.recordEvent}\nlocal jobKey = KEYS[1]
local base, jobId, keySpaceId, deliveryToken, kind, data, eventsPerJob = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7]
local job, runBy, takeBacks, timeouts = loadJob(jobKey, base, jobId, 'runBy', tokenFields(deliveryToken))
local refusal = refusalFor(job.status, job.space, keySpaceId)
if refusal then return { refusal } end
if job.status == 'killed' then return { 'JOB_KILLED', 'killed' } end
if deliveryToken ~= '' then
${lua.deliveryOf}\n${lua.replyToToken}\n  local refused = replyToToken(job, deliveryToken, nil, takeBacks, timeouts)
  if refused then return refused end
end
if job.status ~= 'running' then return { 'JOB_NOT_RUNNING', job.status } end
local nowMs, nowText = now()
local isFull = kind ~= 'keepalive' and kind ~= 'ephemeral' and isMemoryFull(base)
reopenWindow(job, nowMs, executionMs(job), runBy)
if isFull then return { 'STORAGE_FULL' } end
if kind == 'keepalive' or kind == 'ephemeral' then
  redis.call('HSET', jobKey, 'updatedAt', nowText)
  if kind == 'ephemeral' then publish(job, 'null', 'event', 'running', nowText, data) end
elseif kind == 'progress' then
  recordEvent(job, nowText, kind, 'running', data, eventsPerJob, 'progress', data, 'progressAt', nowText)
elseif kind == 'checkpoint' then
  recordEvent(job, nowText, kind, 'running', data, eventsPerJob, 'checkpoint', data)
else
  recordEvent(job, nowText, kind, 'running', data, eventsPerJob)
end
return { 'OK', job.attempt }
`,
} as const;

export const release = {
  name: 'release', sha1: 'c95a82fdfd50bdce5d2132018c91a392f7a1d177',
  keyCount: 1,
  parameters: ({ keys, args }: { keys: { jobKey: string }; args: { base: ScriptArgument; jobId: ScriptArgument; keySpaceId: ScriptArgument; deliveryToken: ScriptArgument; reason: ScriptArgument; delay: ScriptArgument; eventsPerJob: ScriptArgument; retentionMs: ScriptArgument } }): ScriptArgument[] => [keys.jobKey, args.base, args.jobId, args.keySpaceId, args.deliveryToken, args.reason, args.delay, args.eventsPerJob, args.retentionMs],
  decode: (r: unknown[]) => (r[0] === 'OK' ? { outcome: 'OK' as const, before: r[1] as Status, after: r[2] as Status, attempt: Number(r[3]), space: r[4] as string, name: r[5] as string } : { outcome: 'UNCHANGED' as const }),
  text: `${lua.stored}\n${lua.loadJob}\n${lua.refusalFor}\n${lua.now}\n${lua.startLimit}\n${lua.isStartCutShort}\n${lua.lastStep}\n${lua.isStartOver}\n${lua.timeOf}\n${lua.moveToStatusIndex}\n${lua.formatInteger}\n${lua.nextOrder}\n${lua.wake}\n${lua.enqueue}\n${lua.queueScore}\n${lua.enterWaiting}\n${lua.returnToWaiting}\nlocal function appendEvent(job, at, type, data, eventsPerJob)
  local history = job.key .. ':events'
  local kept = (data == 'null' or type == 'completed') and '' or ',' .. data
  local entry = '["' .. type .. '",' .. at .. kept .. ']'
  local length = job.isNew and 0 or redis.call('RPUSHX', history, entry)
  local impliedSeq = type == 'delivered' and '2' or type == 'acked' and '3' or type == 'completed' and '4'
  if length == 0 and not impliedSeq then
${lua.impliedEntries}\n    local entries = impliedEntries(job.key, job.status)
    entries[#entries + 1] = entry
    length = redis.call('RPUSH', history, unpack(entries))
  end
  if length > 0 then
${lua.keepNewest}\n    return formatInteger(keepNewest(job, history, length, eventsPerJob))
  end
  return impliedSeq
end
${lua.quote}\n${lua.eventMessage}\n${lua.publish}\n${lua.recordReturn}\n${lua.isoText}\n${lua.scheduledData}\n${lua.nextTakeBacks}\nlocal jobKey = KEYS[1]
local base, jobId, keySpaceId, deliveryToken, reason, delay, eventsPerJob, retentionMs = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8]
local job, takeBacks, timeouts, priority, startWithin, startBy =
  loadJob(jobKey, base, jobId, 'takeBacks', 'deliveryTimeouts', 'priority', 'startWithinSeconds', 'startBy')
local refusal = refusalFor(job.status, job.space, keySpaceId)
if refusal then return { refusal } end
if deliveryToken ~= '' then
${lua.deliveryOf}\n${lua.replyToGivingUp}\n  local reply = replyToGivingUp(job, deliveryToken, takeBacks, timeouts)
  if reply then return reply end
end
if job.status == 'killed' then return { 'JOB_KILLED', 'killed' } end
if job.status ~= 'delivered' and job.status ~= 'running' then return { 'JOB_NOT_RUNNING', job.status } end
local nowMs, nowText = now()
local attempts = tonumber(job.attempt) - (job.status == 'running' and 1 or 0)
if job.status == 'delivered' and isStartOver(job, startBy, startWithin, nowMs) then
${lua.startRetention}\n${lua.retentionIn}\n${lua.settingsText}\n${lua.dequeue}\n${lua.leaveWaiting}\n${lua.wantsCallback}\n${lua.enqueueCallback}\n${lua.uniqueEntry}\n${lua.freeUnique}\n${lua.recordEvent}\n${lua.makeDead}\n${lua.failStart}\n  failStart(job, nowMs, startWithin, eventsPerJob, retentionMs)
  return { 'OK', job.status, 'dead', formatInteger(attempts + 1), job.space, job.name }
end
local scheduledFor = timeOf(delay, nowMs)
local status = returnToWaiting(job, nowMs, scheduledFor, job.order, { priority, startWithin, startBy })
recordReturn(job, nowText, 'released', status, '{"reason":' .. reason .. scheduledData(scheduledFor), eventsPerJob,
  'attempt', formatInteger(attempts), 'takeBacks', nextTakeBacks(takeBacks))
return { 'OK', job.status, status, formatInteger(attempts + 1), job.space, job.name }
`,
} as const;

export const claim = {
  name: 'claim', sha1: '48f0514b3fc2c419fb93a323b0574ab5be8dde9f',
  keyCount: 1,
  parameters: ({ keys, args }: { keys: { jobKey: string }; args: { base: ScriptArgument; jobId: ScriptArgument; keySpaceId: ScriptArgument; deliveryTimeoutMs: ScriptArgument; eventsPerJob: ScriptArgument; notAfter: ScriptArgument } }): ScriptArgument[] => [keys.jobKey, args.base, args.jobId, args.keySpaceId, args.deliveryTimeoutMs, args.eventsPerJob, args.notAfter],
  decode: (r: unknown[]) => (r[0] === 'OK' ? { outcome: 'OK' as const, space: r[1] as string, job: r.slice(2) as (string | null)[] } : r[0] === 'NOT_PENDING' ? { outcome: 'NOT_PENDING' as const, status: r[1] as Status } : { outcome: 'PAUSED' as const }),
  text: `${lua.loadWhole}\n${lua.refusalFor}\n${lua.now}\n${lua.isTooLate}\n${lua.dequeue}\n${lua.moveToStatusIndex}\n${lua.stored}\n${lua.formatInteger}\n${lua.openWindow}\n${lua.executionMs}\n${lua.deliveryMs}\nlocal function appendEvent(job, at, type, data, eventsPerJob)
  local history = job.key .. ':events'
  local kept = (data == 'null' or type == 'completed') and '' or ',' .. data
  local entry = '["' .. type .. '",' .. at .. kept .. ']'
  local length = job.isNew and 0 or redis.call('RPUSHX', history, entry)
  local impliedSeq = type == 'delivered' and '2' or type == 'acked' and '3' or type == 'completed' and '4'
  if length == 0 and not impliedSeq then
${lua.impliedEntries}\n    local entries = impliedEntries(job.key, job.status)
    entries[#entries + 1] = entry
    length = redis.call('RPUSH', history, unpack(entries))
  end
  if length > 0 then
${lua.keepNewest}\n    return formatInteger(keepNewest(job, history, length, eventsPerJob))
  end
  return impliedSeq
end
${lua.quote}\n${lua.eventMessage}\n${lua.publish}\n${lua.recordEvent}\n${lua.markDelivered}\n${lua.appendClaimed}\nlocal jobKey = KEYS[1]
local base, jobId, keySpaceId, deliveryTimeoutMs, eventsPerJob, notAfter = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local job = loadWhole(jobKey, base, jobId)
local refusal = refusalFor(job.status, job.space, keySpaceId)
if refusal then return { refusal } end
if job.status ~= 'pending' then return { 'NOT_PENDING', job.status } end
local nowMs, nowText = now()
if isTooLate(nowMs, notAfter) then return { 'TOO_LATE' } end
local space, paused = base .. 'space:' .. job.space .. '/', nil
if redis.call('EXISTS', space .. 'paused') == 1 then
${lua.pausedNames}\n  paused = pausedNames(space)
end
if paused and (paused[''] or paused[job.name]) then return { 'PAUSED' } end
dequeue(job)
markDelivered(job, nowMs, nowText, deliveryTimeoutMs, eventsPerJob)
local values = {}
appendClaimed(values, job, nowMs)
return { 'OK', job.space, unpack(values) }
`,
} as const;

export const poll = {
  name: 'poll', sha1: '76cb2c14d7348a3268e49224ae4f4fe771ae56f5',
  keyCount: 1,
  parameters: ({ keys, args, rest }: { keys: { queue: string }; args: { base: ScriptArgument; count: ScriptArgument; deliveryTimeoutMs: ScriptArgument; eventsPerJob: ScriptArgument; notAfter: ScriptArgument; isAcked: ScriptArgument; ackWithinMs: ScriptArgument; workerId: ScriptArgument }; rest: readonly ScriptArgument[] }): ScriptArgument[] => [keys.queue, args.base, args.count, args.deliveryTimeoutMs, args.eventsPerJob, args.notAfter, args.isAcked, args.ackWithinMs, args.workerId, ...rest],
  decode: (r: unknown[]) => (r[0] === 'OK' ? { outcome: 'OK' as const, jobs: r.slice(1) as (string | null)[] } : { outcome: 'MORE' as const, jobs: r.slice(1) as (string | null)[] }),
  text: `${lua.now}\n${lua.isTooLate}\n${lua.takeFirst}\n${lua.loadWhole}\n${lua.appendClaimed}\nlocal queue = KEYS[1]
local base, count, deliveryTimeoutMs, eventsPerJob, notAfter, isAcked, ackWithinMs, workerId = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8]
local names = { unpack(ARGV, 9) }
local nowMs, nowText = now()
if isTooLate(nowMs, notAfter) then return { 'TOO_LATE' } end
local wanted = tonumber(count)
local space, paused = string.sub(queue, 1, -6), nil
if redis.call('EXISTS', space .. 'paused') == 1 then
${lua.pausedNames}\n  paused = pausedNames(space)
end
local queues = { #names == 0 and queue or nil }
for _, name in ipairs(names) do queues[#queues + 1] = not (paused and paused[name]) and queue .. '/' .. name or nil end
if not queues[1] or (paused and paused['']) then return { 'OK' } end
local takeOldest
if #queues > 1 then
${lua.oldestFirst}\n  takeOldest = oldestFirst(queues, math.ceil(wanted / #queues))
end
local more = {}
if workerId ~= '' then more = { 'workerId', workerId } end
if ackWithinMs ~= '' then deliveryTimeoutMs, more[#more + 1], more[#more + 2] = ackWithinMs, 'ackWithinMs', ackWithinMs end
local mark
if isAcked == '' then
${lua.moveToStatusIndex}\n${lua.stored}\n${lua.formatInteger}\n${lua.openWindow}\n${lua.executionMs}\n${lua.deliveryMs}\nlocal function appendEvent(job, at, type, data, eventsPerJob)
  local history = job.key .. ':events'
  local kept = (data == 'null' or type == 'completed') and '' or ',' .. data
  local entry = '["' .. type .. '",' .. at .. kept .. ']'
  local length = job.isNew and 0 or redis.call('RPUSHX', history, entry)
  local impliedSeq = type == 'delivered' and '2' or type == 'acked' and '3' or type == 'completed' and '4'
  if length == 0 and not impliedSeq then
${lua.impliedEntries}\n    local entries = impliedEntries(job.key, job.status)
    entries[#entries + 1] = entry
    length = redis.call('RPUSH', history, unpack(entries))
  end
  if length > 0 then
${lua.keepNewest}\n    return formatInteger(keepNewest(job, history, length, eventsPerJob))
  end
  return impliedSeq
end
${lua.quote}\n${lua.eventMessage}\n${lua.publish}\n${lua.recordEvent}\n${lua.markDelivered}\n  mark = markDelivered
end
if isAcked ~= '' then
${lua.moveToStatusIndex}\n${lua.stored}\n${lua.formatInteger}\n${lua.openWindow}\n${lua.executionMs}\nlocal function startAttempt(job, nowMs, unique, maxRunSeconds, startBy, timeouts)
  moveToStatusIndex(job, 'running')
  local runBy = nil
  if stored(maxRunSeconds) then
${lua.startRun}\n    runBy = startRun(job, nowMs, maxRunSeconds)
  end
  openWindow(job, nowMs, executionMs(job), runBy)
  if stored(startBy) then
    redis.call('ZREM', job.base .. 'due', job.id)
    redis.call('HSET', job.key, 'startBy', '0')
  end
  if stored(unique) and string.find(unique, '^started ') then
${lua.uniqueEntry}\n${lua.freeUnique}\n    freeUnique(job, unique)
    redis.call('HSET', job.key, 'uniqueFreed', '1')
  end
  if stored(timeouts) then redis.call('HDEL', job.key, 'deliveryTimeouts') end
end
${lua.keepNewest}\n${lua.appendDelivery}\n${lua.quote}\n${lua.eventMessage}\n${lua.publish}\n${lua.markRunning}\n  mark = markRunning
end
local values, claimed, id = {}, 0
for _ = 1, wanted + (paused and 100 or 50) do
  if claimed == wanted then break end
  if takeOldest then id = takeOldest() else id = takeFirst(queues[1], wanted) end
  if not id then break end
  local isPaused = paused and paused[redis.call('HGET', base .. 'job:' .. id, 'name')]
  local job = not isPaused and loadWhole(base .. 'job:' .. id, base, id)
  if job and job.status == 'pending' then
    redis.call('ZREM', #names == 0 and queue .. '/' .. job.name or queue, id)
    mark(job, nowMs, nowText, deliveryTimeoutMs, eventsPerJob, unpack(more))
    appendClaimed(values, job, nowMs)
    claimed = claimed + 1
  end
end
return { paused and id and claimed < wanted and 'MORE' or 'OK', unpack(values) }
`,
} as const;

export const turn = {
  name: 'turn', sha1: 'acb632e6740d045c520630d9c851377135814fbc',
  keyCount: 1,
  parameters: ({ keys, args, rest }: { keys: { queue: string }; args: { base: ScriptArgument; space: ScriptArgument; actions: ScriptArgument; count: ScriptArgument; deliveryTimeoutMs: ScriptArgument; isAcked: ScriptArgument; ackWithinMs: ScriptArgument; workerId: ScriptArgument; eventsPerJob: ScriptArgument; retentionMs: ScriptArgument; random: ScriptArgument; notAfter: ScriptArgument; nameCount: ScriptArgument }; rest: readonly ScriptArgument[] }): ScriptArgument[] => [keys.queue, args.base, args.space, args.actions, args.count, args.deliveryTimeoutMs, args.isAcked, args.ackWithinMs, args.workerId, args.eventsPerJob, args.retentionMs, args.random, args.notAfter, args.nameCount, ...rest],
  decode: (r: unknown[]) => (r[0] === 'OK' ? { outcome: 'OK' as const, values: r.slice(1) as (string | null)[] } : { outcome: 'MORE' as const, values: r.slice(1) as (string | null)[] }),
  text: `${lua.isTooLate}\n${collected.clock}\n${collected.now}\n${collected.collected}\n${lua.quote}\n${lua.eventMessage}\n${collected.publishCollected}\n${lua.stored}\n${lua.loadJob}\n${lua.tokenFields}\n${lua.refusalFor}\n${lua.moveToStatusIndex}\n${lua.formatInteger}\nlocal function appendEvent(job, at, type, data, eventsPerJob)
  local history = job.key .. ':events'
  local kept = (data == 'null' or type == 'completed') and '' or ',' .. data
  local entry = '["' .. type .. '",' .. at .. kept .. ']'
  local length = job.isNew and 0 or redis.call('RPUSHX', history, entry)
  local impliedSeq = type == 'delivered' and '2' or type == 'acked' and '3' or type == 'completed' and '4'
  if length == 0 and not impliedSeq then
${lua.impliedEntries}\n    local entries = impliedEntries(job.key, job.status)
    entries[#entries + 1] = entry
    length = redis.call('RPUSH', history, unpack(entries))
  end
  if length > 0 then
${lua.keepNewest}\n    return formatInteger(keepNewest(job, history, length, eventsPerJob))
  end
  return impliedSeq
end
${collected.publish}\n${lua.recordEvent}\nlocal queue = KEYS[1]
local base, space, actions, count, deliveryTimeoutMs, isAcked, ackWithinMs, workerId, eventsPerJob, retentionMs, random, notAfter, nameCount = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8], ARGV[9], ARGV[10], ARGV[11], ARGV[12], ARGV[13]
local inputs = { unpack(ARGV, 14) }
if isTooLate(now(), notAfter) then return { 'TOO_LATE' } end
local settle = {}
if string.find(actions, 'ack', 1, true) then
${lua.openWindow}\n${lua.executionMs}\nlocal function startAttempt(job, nowMs, unique, maxRunSeconds, startBy, timeouts)
  moveToStatusIndex(job, 'running')
  local runBy = nil
  if stored(maxRunSeconds) then
${lua.startRun}\n    runBy = startRun(job, nowMs, maxRunSeconds)
  end
  openWindow(job, nowMs, executionMs(job), runBy)
  if stored(startBy) then
    redis.call('ZREM', job.base .. 'due', job.id)
    redis.call('HSET', job.key, 'startBy', '0')
  end
  if stored(unique) and string.find(unique, '^started ') then
${lua.uniqueEntry}\n${lua.freeUnique}\n    freeUnique(job, unique)
    redis.call('HSET', job.key, 'uniqueFreed', '1')
  end
  if stored(timeouts) then redis.call('HDEL', job.key, 'deliveryTimeouts') end
end
local function ackScript(jobKey, base, jobId, keySpaceId, deliveryToken, eventsPerJob)
local job, unique, maxRunSeconds, startBy, timeouts, takeBacks =
  loadJob(jobKey, base, jobId, 'unique', 'maxRunSeconds', 'startBy', 'deliveryTimeouts', tokenFields(deliveryToken))
local refusal = refusalFor(job.status, job.space, keySpaceId)
if refusal then return { refusal } end
if deliveryToken ~= '' then
${lua.deliveryOf}\n${lua.replyToToken}\n  local reply = replyToToken(job, deliveryToken, 'running', takeBacks, timeouts)
  if reply then return reply end
end
if job.status ~= 'delivered' then
${lua.missedWindow}\n  return { 'JOB_NOT_DELIVERED', job.status, missedWindow(job) }
end
local nowMs, nowText = now()
local attempt = job.attempt + 1
startAttempt(job, nowMs, unique, maxRunSeconds, startBy, timeouts)
recordEvent(job, nowText, 'acked', 'running', 'null', eventsPerJob, 'startedAt', nowText, 'attempt', formatInteger(attempt))
return { 'OK', attempt }
end
  function settle.ack(key, id, token) return ackScript(key, base, id, space, token, eventsPerJob) end
end
if string.find(actions, 'heartbeat', 1, true) then
${lua.knownFull}\n${lua.isMemoryFull}\n${lua.openWindow}\n${lua.reopenWindow}\n${lua.executionMs}\nlocal function heartbeatScript(jobKey, base, jobId, keySpaceId, deliveryToken, kind, data, eventsPerJob)
local job, runBy, takeBacks, timeouts = loadJob(jobKey, base, jobId, 'runBy', tokenFields(deliveryToken))
local refusal = refusalFor(job.status, job.space, keySpaceId)
if refusal then return { refusal } end
if job.status == 'killed' then return { 'JOB_KILLED', 'killed' } end
if deliveryToken ~= '' then
${lua.deliveryOf}\n${lua.replyToToken}\n  local refused = replyToToken(job, deliveryToken, nil, takeBacks, timeouts)
  if refused then return refused end
end
if job.status ~= 'running' then return { 'JOB_NOT_RUNNING', job.status } end
local nowMs, nowText = now()
local isFull = kind ~= 'keepalive' and kind ~= 'ephemeral' and isMemoryFull(base)
reopenWindow(job, nowMs, executionMs(job), runBy)
if isFull then return { 'STORAGE_FULL' } end
if kind == 'keepalive' or kind == 'ephemeral' then
  redis.call('HSET', jobKey, 'updatedAt', nowText)
  if kind == 'ephemeral' then publish(job, 'null', 'event', 'running', nowText, data) end
elseif kind == 'progress' then
  recordEvent(job, nowText, kind, 'running', data, eventsPerJob, 'progress', data, 'progressAt', nowText)
elseif kind == 'checkpoint' then
  recordEvent(job, nowText, kind, 'running', data, eventsPerJob, 'checkpoint', data)
else
  recordEvent(job, nowText, kind, 'running', data, eventsPerJob)
end
return { 'OK', job.attempt }
end
  isMemoryFull(base)
  function settle.heartbeat(key, id, token, kind, data) return heartbeatScript(key, base, id, space, token, kind, data, eventsPerJob) end
end
if string.find(actions, 'complete', 1, true) then
${collected.knownSettings}\n${collected.settingsText}\n${lua.startRetention}\nlocal function completeScript(jobKey, base, jobId, keySpaceId, deliveryToken, result, eventsPerJob, retentionMs, mayDiffer)
local job, callbackUrl, callbackOn, unique, startedAt, takeBacks, timeouts =
  loadJob(jobKey, base, jobId, 'callbackUrl', 'callbackOn', 'unique', 'startedAt', tokenFields(deliveryToken))
local refusal = refusalFor(job.status, job.space, keySpaceId)
if refusal then return { refusal } end
if deliveryToken ~= '' then
${lua.deliveryOf}\n${lua.replyToToken}\n  local reply = replyToToken(job, deliveryToken, 'completed', takeBacks, timeouts)
  if reply then return reply end
end
if job.status ~= 'running' then return { 'JOB_NOT_RUNNING', job.status } end
local nowMs, nowText = now()
moveToStatusIndex(job, 'completed')
if stored(unique) then
${lua.uniqueEntry}\n${lua.freeUnique}\n  freeUnique(job, unique, 'expired')
end
local settings = mayDiffer ~= '' and settingsText(base, job.space)
if stored(settings) then
${lua.retentionIn}\n  retentionMs = retentionIn(settings, 'completed', retentionMs)
end
startRetention(job, nowMs, retentionMs)
if stored(callbackUrl) then
${lua.wantsCallback}\n${lua.enqueueCallback}\n  if wantsCallback('completed', callbackUrl, callbackOn) then enqueueCallback(job, nowMs) end
end
recordEvent(job, nowText, 'completed', 'completed', result, eventsPerJob, 'result', result)
return { 'OK', job.attempt, job.space, nowMs - (stored(startedAt) or nowMs), job.name }
end
  function settle.complete(key, id, token, result) return completeScript(key, base, id, space, token, result, eventsPerJob, retentionMs) end
end
if string.find(actions, 'fail', 1, true) then
${lua.spread}\n${lua.startRetention}\n${lua.retentionIn}\n${collected.knownSettings}\n${collected.settingsText}\n${lua.dequeue}\n${lua.leaveWaiting}\n${lua.wantsCallback}\n${lua.enqueueCallback}\n${lua.uniqueEntry}\n${lua.freeUnique}\n${lua.makeDead}\n${lua.retryDelayMs}\n${lua.nextOrder}\n${lua.startLimit}\n${collected.wake}\n${lua.enqueue}\n${lua.queueScore}\n${lua.enterWaiting}\n${lua.returnToWaiting}\n${lua.isoText}\n${lua.scheduledData}\n${lua.recordReturn}\n${lua.failAttempt}\nlocal function failScript(jobKey, base, jobId, keySpaceId, deliveryToken, errorJson, isRetryable, retryAfterMs, random, eventsPerJob, retentionMs)
local job, retry, priority, startedAt, takeBacks, timeouts =
  loadJob(jobKey, base, jobId, 'retry', 'priority', 'startedAt', tokenFields(deliveryToken))
local refusal = refusalFor(job.status, job.space, keySpaceId)
if refusal then return { refusal } end
if deliveryToken ~= '' then
${lua.deliveryOf}\n${lua.replyToGivingUp}\n  local reply = replyToGivingUp(job, deliveryToken, takeBacks, timeouts)
  if reply then return reply end
end
if job.status ~= 'running' then return { 'JOB_NOT_RUNNING', job.status } end
local nowMs, status = now(), nil
if isRetryable == '0' then
  status = makeDead(job, nowMs, errorJson, eventsPerJob, retentionMs)
else
  local again = { retry = retry, priority = priority, delayMs = tonumber(retryAfterMs), random = random }
  status = failAttempt(job, nowMs, errorJson, eventsPerJob, retentionMs, again)
end
return { 'OK', status, job.attempt, job.space, nowMs - (stored(startedAt) or nowMs), job.name }
end
  function settle.fail(key, id, token, errorJson, isRetryable, retryAfterMs)
    random = spread(random, 1)
    return failScript(key, base, id, space, token, errorJson, isRetryable, retryAfterMs, random, eventsPerJob, retentionMs)
  end
end
if string.find(actions, 'release', 1, true) then
${lua.startLimit}\n${lua.isStartCutShort}\n${lua.lastStep}\n${lua.isStartOver}\n${lua.timeOf}\n${lua.nextOrder}\n${collected.wake}\n${lua.enqueue}\n${lua.queueScore}\n${lua.enterWaiting}\n${lua.returnToWaiting}\n${lua.recordReturn}\n${lua.isoText}\n${lua.scheduledData}\n${lua.nextTakeBacks}\nlocal function releaseScript(jobKey, base, jobId, keySpaceId, deliveryToken, reason, delay, eventsPerJob, retentionMs)
local job, takeBacks, timeouts, priority, startWithin, startBy =
  loadJob(jobKey, base, jobId, 'takeBacks', 'deliveryTimeouts', 'priority', 'startWithinSeconds', 'startBy')
local refusal = refusalFor(job.status, job.space, keySpaceId)
if refusal then return { refusal } end
if deliveryToken ~= '' then
${lua.deliveryOf}\n${lua.replyToGivingUp}\n  local reply = replyToGivingUp(job, deliveryToken, takeBacks, timeouts)
  if reply then return reply end
end
if job.status == 'killed' then return { 'JOB_KILLED', 'killed' } end
if job.status ~= 'delivered' and job.status ~= 'running' then return { 'JOB_NOT_RUNNING', job.status } end
local nowMs, nowText = now()
local attempts = tonumber(job.attempt) - (job.status == 'running' and 1 or 0)
if job.status == 'delivered' and isStartOver(job, startBy, startWithin, nowMs) then
${lua.startRetention}\n${lua.retentionIn}\n${collected.knownSettings}\n${collected.settingsText}\n${lua.dequeue}\n${lua.leaveWaiting}\n${lua.wantsCallback}\n${lua.enqueueCallback}\n${lua.uniqueEntry}\n${lua.freeUnique}\n${lua.makeDead}\n${lua.failStart}\n  failStart(job, nowMs, startWithin, eventsPerJob, retentionMs)
  return { 'OK', job.status, 'dead', formatInteger(attempts + 1), job.space, job.name }
end
local scheduledFor = timeOf(delay, nowMs)
local status = returnToWaiting(job, nowMs, scheduledFor, job.order, { priority, startWithin, startBy })
recordReturn(job, nowText, 'released', status, '{"reason":' .. reason .. scheduledData(scheduledFor), eventsPerJob,
  'attempt', formatInteger(attempts), 'takeBacks', nextTakeBacks(takeBacks))
return { 'OK', job.status, status, formatInteger(attempts + 1), job.space, job.name }
end
  function settle.release(key, id, token, reason, delay) return releaseScript(key, base, id, space, token, reason, delay, eventsPerJob, retentionMs) end
end
local values, names = {}, { unpack(inputs, 1, nameCount) }
for i = nameCount + 1, #inputs, 6 do
  local id, token, action, a, b, c = unpack(inputs, i, i + 5)
  local ok, outcome = pcall(settle[action], base .. 'job:' .. id, id, token, a, b, c)
  if not ok then outcome = { 'UNAVAILABLE' } end
  values[#values + 1] = outcome[1] == 'OK' and table.concat(outcome, ' ', 2) or outcome
end
local outcome = 'OK'
if count ~= '0' then
${lua.takeFirst}\n${lua.loadWhole}\n${lua.appendClaimed}\nlocal function pollScript(queue, base, count, deliveryTimeoutMs, eventsPerJob, notAfter, isAcked, ackWithinMs, workerId, names)
local nowMs, nowText = now()
if isTooLate(nowMs, notAfter) then return { 'TOO_LATE' } end
local wanted = tonumber(count)
local space, paused = string.sub(queue, 1, -6), nil
if redis.call('EXISTS', space .. 'paused') == 1 then
${lua.pausedNames}\n  paused = pausedNames(space)
end
local queues = { #names == 0 and queue or nil }
for _, name in ipairs(names) do queues[#queues + 1] = not (paused and paused[name]) and queue .. '/' .. name or nil end
if not queues[1] or (paused and paused['']) then return { 'OK' } end
local takeOldest
if #queues > 1 then
${lua.oldestFirst}\n  takeOldest = oldestFirst(queues, math.ceil(wanted / #queues))
end
local more = {}
if workerId ~= '' then more = { 'workerId', workerId } end
if ackWithinMs ~= '' then deliveryTimeoutMs, more[#more + 1], more[#more + 2] = ackWithinMs, 'ackWithinMs', ackWithinMs end
local mark
if isAcked == '' then
${lua.openWindow}\n${lua.executionMs}\n${lua.deliveryMs}\n${lua.markDelivered}\n  mark = markDelivered
end
if isAcked ~= '' then
${lua.openWindow}\n${lua.executionMs}\nlocal function startAttempt(job, nowMs, unique, maxRunSeconds, startBy, timeouts)
  moveToStatusIndex(job, 'running')
  local runBy = nil
  if stored(maxRunSeconds) then
${lua.startRun}\n    runBy = startRun(job, nowMs, maxRunSeconds)
  end
  openWindow(job, nowMs, executionMs(job), runBy)
  if stored(startBy) then
    redis.call('ZREM', job.base .. 'due', job.id)
    redis.call('HSET', job.key, 'startBy', '0')
  end
  if stored(unique) and string.find(unique, '^started ') then
${lua.uniqueEntry}\n${lua.freeUnique}\n    freeUnique(job, unique)
    redis.call('HSET', job.key, 'uniqueFreed', '1')
  end
  if stored(timeouts) then redis.call('HDEL', job.key, 'deliveryTimeouts') end
end
${lua.keepNewest}\n${lua.appendDelivery}\n${lua.markRunning}\n  mark = markRunning
end
local values, claimed, id = {}, 0
for _ = 1, wanted + (paused and 100 or 50) do
  if claimed == wanted then break end
  if takeOldest then id = takeOldest() else id = takeFirst(queues[1], wanted) end
  if not id then break end
  local isPaused = paused and paused[redis.call('HGET', base .. 'job:' .. id, 'name')]
  local job = not isPaused and loadWhole(base .. 'job:' .. id, base, id)
  if job and job.status == 'pending' then
    redis.call('ZREM', #names == 0 and queue .. '/' .. job.name or queue, id)
    mark(job, nowMs, nowText, deliveryTimeoutMs, eventsPerJob, unpack(more))
    appendClaimed(values, job, nowMs)
    claimed = claimed + 1
  end
end
return { paused and id and claimed < wanted and 'MORE' or 'OK', unpack(values) }
end
${lua.failureReply}\n  local ok, jobs = pcall(pollScript, queue, base, count, deliveryTimeoutMs, eventsPerJob, '', isAcked, ackWithinMs, workerId, names)
  if not ok then
    publishCollected(base, space)
    return failureReply(jobs)
  end
  outcome = jobs[1]
  for i = 2, #jobs do values[#values + 1] = jobs[i] end
end
publishCollected(base, space)
return { outcome, unpack(values) }
`,
} as const;

export const turn_many = {
  name: 'turn_many', sha1: '29b301ec4ecfc9caa2112cb0e8402b578aafe78c',
  keyCount: 1,
  parameters: ({ keys, args, rest }: { keys: { queue: string }; args: { base: ScriptArgument; space: ScriptArgument; actions: ScriptArgument; count: ScriptArgument; deliveryTimeoutMs: ScriptArgument; isAcked: ScriptArgument; ackWithinMs: ScriptArgument; workerId: ScriptArgument; eventsPerJob: ScriptArgument; retentionMs: ScriptArgument; random: ScriptArgument; notAfter: ScriptArgument; nameCount: ScriptArgument }; rest: readonly ScriptArgument[] }): ScriptArgument[] => [keys.queue, args.base, args.space, args.actions, args.count, args.deliveryTimeoutMs, args.isAcked, args.ackWithinMs, args.workerId, args.eventsPerJob, args.retentionMs, args.random, args.notAfter, args.nameCount, ...rest],
  decode: (r: unknown[]) => (r[0] === 'OK' ? { outcome: 'OK' as const, values: r.slice(1) as (string | null)[] } : { outcome: 'MORE' as const, values: r.slice(1) as (string | null)[] }),
  text: `${lua.isTooLate}\n${collected.clock}\nlocal function now()
  if not clock then
${later.later}\n${later.writeSets}\n${later.redis}\n    local time = redis.call('TIME')
    local ms = math.floor(time[2] / 1000)
    clock = { time[1] * 1000.0 + ms, time[1] .. string.format('%03d', ms), time[2] }
  end
  return clock[1], clock[2], clock[3]
end
${collected.collected}\n${later.later}\n${later.writeSets}\n${later.redis}\n${lua.quote}\n${lua.eventMessage}\n${collected.publishCollected}\nlocal function turnScript(queue, base, space, actions, count, deliveryTimeoutMs, isAcked, ackWithinMs, workerId, eventsPerJob, retentionMs, random, notAfter, nameCount, inputs)
${lua.stored}\n${lua.loadJob}\n${lua.tokenFields}\n${lua.refusalFor}\n${lua.moveToStatusIndex}\n${lua.formatInteger}\nlocal function appendEvent(job, at, type, data, eventsPerJob)
  local history = job.key .. ':events'
  local kept = (data == 'null' or type == 'completed') and '' or ',' .. data
  local entry = '["' .. type .. '",' .. at .. kept .. ']'
  local length = job.isNew and 0 or redis.call('RPUSHX', history, entry)
  local impliedSeq = type == 'delivered' and '2' or type == 'acked' and '3' or type == 'completed' and '4'
  if length == 0 and not impliedSeq then
${lua.impliedEntries}\n    local entries = impliedEntries(job.key, job.status)
    entries[#entries + 1] = entry
    length = redis.call('RPUSH', history, unpack(entries))
  end
  if length > 0 then
${lua.keepNewest}\n    return formatInteger(keepNewest(job, history, length, eventsPerJob))
  end
  return impliedSeq
end
${collected.publish}\n${lua.recordEvent}\nif isTooLate(now(), notAfter) then return { 'TOO_LATE' } end
local settle = {}
if string.find(actions, 'ack', 1, true) then
${lua.openWindow}\n${lua.executionMs}\nlocal function startAttempt(job, nowMs, unique, maxRunSeconds, startBy, timeouts)
  moveToStatusIndex(job, 'running')
  local runBy = nil
  if stored(maxRunSeconds) then
${lua.startRun}\n    runBy = startRun(job, nowMs, maxRunSeconds)
  end
  openWindow(job, nowMs, executionMs(job), runBy)
  if stored(startBy) then
    redis.call('ZREM', job.base .. 'due', job.id)
    redis.call('HSET', job.key, 'startBy', '0')
  end
  if stored(unique) and string.find(unique, '^started ') then
${lua.uniqueEntry}\n${lua.freeUnique}\n    freeUnique(job, unique)
    redis.call('HSET', job.key, 'uniqueFreed', '1')
  end
  if stored(timeouts) then redis.call('HDEL', job.key, 'deliveryTimeouts') end
end
local function ackScript(jobKey, base, jobId, keySpaceId, deliveryToken, eventsPerJob)
local job, unique, maxRunSeconds, startBy, timeouts, takeBacks =
  loadJob(jobKey, base, jobId, 'unique', 'maxRunSeconds', 'startBy', 'deliveryTimeouts', tokenFields(deliveryToken))
local refusal = refusalFor(job.status, job.space, keySpaceId)
if refusal then return { refusal } end
if deliveryToken ~= '' then
${lua.deliveryOf}\n${lua.replyToToken}\n  local reply = replyToToken(job, deliveryToken, 'running', takeBacks, timeouts)
  if reply then return reply end
end
if job.status ~= 'delivered' then
${lua.missedWindow}\n  return { 'JOB_NOT_DELIVERED', job.status, missedWindow(job) }
end
local nowMs, nowText = now()
local attempt = job.attempt + 1
startAttempt(job, nowMs, unique, maxRunSeconds, startBy, timeouts)
recordEvent(job, nowText, 'acked', 'running', 'null', eventsPerJob, 'startedAt', nowText, 'attempt', formatInteger(attempt))
return { 'OK', attempt }
end
  function settle.ack(key, id, token) return ackScript(key, base, id, space, token, eventsPerJob) end
end
if string.find(actions, 'heartbeat', 1, true) then
${lua.knownFull}\n${lua.isMemoryFull}\n${lua.openWindow}\n${lua.reopenWindow}\n${lua.executionMs}\nlocal function heartbeatScript(jobKey, base, jobId, keySpaceId, deliveryToken, kind, data, eventsPerJob)
local job, runBy, takeBacks, timeouts = loadJob(jobKey, base, jobId, 'runBy', tokenFields(deliveryToken))
local refusal = refusalFor(job.status, job.space, keySpaceId)
if refusal then return { refusal } end
if job.status == 'killed' then return { 'JOB_KILLED', 'killed' } end
if deliveryToken ~= '' then
${lua.deliveryOf}\n${lua.replyToToken}\n  local refused = replyToToken(job, deliveryToken, nil, takeBacks, timeouts)
  if refused then return refused end
end
if job.status ~= 'running' then return { 'JOB_NOT_RUNNING', job.status } end
local nowMs, nowText = now()
local isFull = kind ~= 'keepalive' and kind ~= 'ephemeral' and isMemoryFull(base)
reopenWindow(job, nowMs, executionMs(job), runBy)
if isFull then return { 'STORAGE_FULL' } end
if kind == 'keepalive' or kind == 'ephemeral' then
  redis.call('HSET', jobKey, 'updatedAt', nowText)
  if kind == 'ephemeral' then publish(job, 'null', 'event', 'running', nowText, data) end
elseif kind == 'progress' then
  recordEvent(job, nowText, kind, 'running', data, eventsPerJob, 'progress', data, 'progressAt', nowText)
elseif kind == 'checkpoint' then
  recordEvent(job, nowText, kind, 'running', data, eventsPerJob, 'checkpoint', data)
else
  recordEvent(job, nowText, kind, 'running', data, eventsPerJob)
end
return { 'OK', job.attempt }
end
  isMemoryFull(base)
  function settle.heartbeat(key, id, token, kind, data) return heartbeatScript(key, base, id, space, token, kind, data, eventsPerJob) end
end
if string.find(actions, 'complete', 1, true) then
${collected.knownSettings}\n${collected.settingsText}\n${lua.startRetention}\nlocal function completeScript(jobKey, base, jobId, keySpaceId, deliveryToken, result, eventsPerJob, retentionMs, mayDiffer)
local job, callbackUrl, callbackOn, unique, startedAt, takeBacks, timeouts =
  loadJob(jobKey, base, jobId, 'callbackUrl', 'callbackOn', 'unique', 'startedAt', tokenFields(deliveryToken))
local refusal = refusalFor(job.status, job.space, keySpaceId)
if refusal then return { refusal } end
if deliveryToken ~= '' then
${lua.deliveryOf}\n${lua.replyToToken}\n  local reply = replyToToken(job, deliveryToken, 'completed', takeBacks, timeouts)
  if reply then return reply end
end
if job.status ~= 'running' then return { 'JOB_NOT_RUNNING', job.status } end
local nowMs, nowText = now()
moveToStatusIndex(job, 'completed')
if stored(unique) then
${lua.uniqueEntry}\n${lua.freeUnique}\n  freeUnique(job, unique, 'expired')
end
local settings = mayDiffer ~= '' and settingsText(base, job.space)
if stored(settings) then
${lua.retentionIn}\n  retentionMs = retentionIn(settings, 'completed', retentionMs)
end
startRetention(job, nowMs, retentionMs)
if stored(callbackUrl) then
${lua.wantsCallback}\n${lua.enqueueCallback}\n  if wantsCallback('completed', callbackUrl, callbackOn) then enqueueCallback(job, nowMs) end
end
recordEvent(job, nowText, 'completed', 'completed', result, eventsPerJob, 'result', result)
return { 'OK', job.attempt, job.space, nowMs - (stored(startedAt) or nowMs), job.name }
end
  function settle.complete(key, id, token, result) return completeScript(key, base, id, space, token, result, eventsPerJob, retentionMs) end
end
if string.find(actions, 'fail', 1, true) then
${lua.spread}\n${lua.startRetention}\n${lua.retentionIn}\n${collected.knownSettings}\n${collected.settingsText}\n${lua.dequeue}\n${lua.leaveWaiting}\n${lua.wantsCallback}\n${lua.enqueueCallback}\n${lua.uniqueEntry}\n${lua.freeUnique}\n${lua.makeDead}\n${lua.retryDelayMs}\n${later.nextOrder}\n${lua.startLimit}\n${collected.wake}\n${lua.enqueue}\n${lua.queueScore}\n${lua.enterWaiting}\n${lua.returnToWaiting}\n${lua.isoText}\n${lua.scheduledData}\n${lua.recordReturn}\n${lua.failAttempt}\nlocal function failScript(jobKey, base, jobId, keySpaceId, deliveryToken, errorJson, isRetryable, retryAfterMs, random, eventsPerJob, retentionMs)
local job, retry, priority, startedAt, takeBacks, timeouts =
  loadJob(jobKey, base, jobId, 'retry', 'priority', 'startedAt', tokenFields(deliveryToken))
local refusal = refusalFor(job.status, job.space, keySpaceId)
if refusal then return { refusal } end
if deliveryToken ~= '' then
${lua.deliveryOf}\n${lua.replyToGivingUp}\n  local reply = replyToGivingUp(job, deliveryToken, takeBacks, timeouts)
  if reply then return reply end
end
if job.status ~= 'running' then return { 'JOB_NOT_RUNNING', job.status } end
local nowMs, status = now(), nil
if isRetryable == '0' then
  status = makeDead(job, nowMs, errorJson, eventsPerJob, retentionMs)
else
  local again = { retry = retry, priority = priority, delayMs = tonumber(retryAfterMs), random = random }
  status = failAttempt(job, nowMs, errorJson, eventsPerJob, retentionMs, again)
end
return { 'OK', status, job.attempt, job.space, nowMs - (stored(startedAt) or nowMs), job.name }
end
  function settle.fail(key, id, token, errorJson, isRetryable, retryAfterMs)
    random = spread(random, 1)
    return failScript(key, base, id, space, token, errorJson, isRetryable, retryAfterMs, random, eventsPerJob, retentionMs)
  end
end
if string.find(actions, 'release', 1, true) then
${lua.startLimit}\n${lua.isStartCutShort}\n${lua.lastStep}\n${lua.isStartOver}\n${lua.timeOf}\n${later.nextOrder}\n${collected.wake}\n${lua.enqueue}\n${lua.queueScore}\n${lua.enterWaiting}\n${lua.returnToWaiting}\n${lua.recordReturn}\n${lua.isoText}\n${lua.scheduledData}\n${lua.nextTakeBacks}\nlocal function releaseScript(jobKey, base, jobId, keySpaceId, deliveryToken, reason, delay, eventsPerJob, retentionMs)
local job, takeBacks, timeouts, priority, startWithin, startBy =
  loadJob(jobKey, base, jobId, 'takeBacks', 'deliveryTimeouts', 'priority', 'startWithinSeconds', 'startBy')
local refusal = refusalFor(job.status, job.space, keySpaceId)
if refusal then return { refusal } end
if deliveryToken ~= '' then
${lua.deliveryOf}\n${lua.replyToGivingUp}\n  local reply = replyToGivingUp(job, deliveryToken, takeBacks, timeouts)
  if reply then return reply end
end
if job.status == 'killed' then return { 'JOB_KILLED', 'killed' } end
if job.status ~= 'delivered' and job.status ~= 'running' then return { 'JOB_NOT_RUNNING', job.status } end
local nowMs, nowText = now()
local attempts = tonumber(job.attempt) - (job.status == 'running' and 1 or 0)
if job.status == 'delivered' and isStartOver(job, startBy, startWithin, nowMs) then
${lua.startRetention}\n${lua.retentionIn}\n${collected.knownSettings}\n${collected.settingsText}\n${lua.dequeue}\n${lua.leaveWaiting}\n${lua.wantsCallback}\n${lua.enqueueCallback}\n${lua.uniqueEntry}\n${lua.freeUnique}\n${lua.makeDead}\n${lua.failStart}\n  failStart(job, nowMs, startWithin, eventsPerJob, retentionMs)
  return { 'OK', job.status, 'dead', formatInteger(attempts + 1), job.space, job.name }
end
local scheduledFor = timeOf(delay, nowMs)
local status = returnToWaiting(job, nowMs, scheduledFor, job.order, { priority, startWithin, startBy })
recordReturn(job, nowText, 'released', status, '{"reason":' .. reason .. scheduledData(scheduledFor), eventsPerJob,
  'attempt', formatInteger(attempts), 'takeBacks', nextTakeBacks(takeBacks))
return { 'OK', job.status, status, formatInteger(attempts + 1), job.space, job.name }
end
  function settle.release(key, id, token, reason, delay) return releaseScript(key, base, id, space, token, reason, delay, eventsPerJob, retentionMs) end
end
local values, names = {}, { unpack(inputs, 1, nameCount) }
for i = nameCount + 1, #inputs, 6 do
  local id, token, action, a, b, c = unpack(inputs, i, i + 5)
  local ok, outcome = pcall(settle[action], base .. 'job:' .. id, id, token, a, b, c)
  if not ok then outcome = { 'UNAVAILABLE' } end
  values[#values + 1] = outcome[1] == 'OK' and table.concat(outcome, ' ', 2) or outcome
end
local outcome = 'OK'
if count ~= '0' then
${later.takeFirst}\n${lua.loadWhole}\n${lua.appendClaimed}\nlocal function pollScript(queue, base, count, deliveryTimeoutMs, eventsPerJob, notAfter, isAcked, ackWithinMs, workerId, names)
local nowMs, nowText = now()
if isTooLate(nowMs, notAfter) then return { 'TOO_LATE' } end
local wanted = tonumber(count)
local space, paused = string.sub(queue, 1, -6), nil
if redis.call('EXISTS', space .. 'paused') == 1 then
${lua.pausedNames}\n  paused = pausedNames(space)
end
local queues = { #names == 0 and queue or nil }
for _, name in ipairs(names) do queues[#queues + 1] = not (paused and paused[name]) and queue .. '/' .. name or nil end
if not queues[1] or (paused and paused['']) then return { 'OK' } end
local takeOldest
if #queues > 1 then
${lua.oldestFirst}\n  takeOldest = oldestFirst(queues, math.ceil(wanted / #queues))
end
local more = {}
if workerId ~= '' then more = { 'workerId', workerId } end
if ackWithinMs ~= '' then deliveryTimeoutMs, more[#more + 1], more[#more + 2] = ackWithinMs, 'ackWithinMs', ackWithinMs end
local mark
if isAcked == '' then
${lua.openWindow}\n${lua.executionMs}\n${lua.deliveryMs}\n${lua.markDelivered}\n  mark = markDelivered
end
if isAcked ~= '' then
${lua.openWindow}\n${lua.executionMs}\nlocal function startAttempt(job, nowMs, unique, maxRunSeconds, startBy, timeouts)
  moveToStatusIndex(job, 'running')
  local runBy = nil
  if stored(maxRunSeconds) then
${lua.startRun}\n    runBy = startRun(job, nowMs, maxRunSeconds)
  end
  openWindow(job, nowMs, executionMs(job), runBy)
  if stored(startBy) then
    redis.call('ZREM', job.base .. 'due', job.id)
    redis.call('HSET', job.key, 'startBy', '0')
  end
  if stored(unique) and string.find(unique, '^started ') then
${lua.uniqueEntry}\n${lua.freeUnique}\n    freeUnique(job, unique)
    redis.call('HSET', job.key, 'uniqueFreed', '1')
  end
  if stored(timeouts) then redis.call('HDEL', job.key, 'deliveryTimeouts') end
end
${lua.keepNewest}\n${lua.appendDelivery}\n${lua.markRunning}\n  mark = markRunning
end
local values, claimed, id = {}, 0
for _ = 1, wanted + (paused and 100 or 50) do
  if claimed == wanted then break end
  if takeOldest then id = takeOldest() else id = takeFirst(queues[1], wanted) end
  if not id then break end
  local isPaused = paused and paused[redis.call('HGET', base .. 'job:' .. id, 'name')]
  local job = not isPaused and loadWhole(base .. 'job:' .. id, base, id)
  if job and job.status == 'pending' then
    redis.call('ZREM', #names == 0 and queue .. '/' .. job.name or queue, id)
    mark(job, nowMs, nowText, deliveryTimeoutMs, eventsPerJob, unpack(more))
    appendClaimed(values, job, nowMs)
    claimed = claimed + 1
  end
end
return { paused and id and claimed < wanted and 'MORE' or 'OK', unpack(values) }
end
${lua.failureReply}\n  local ok, jobs = pcall(pollScript, queue, base, count, deliveryTimeoutMs, eventsPerJob, '', isAcked, ackWithinMs, workerId, names)
  if not ok then
    publishCollected(base, space)
    return failureReply(jobs)
  end
  outcome = jobs[1]
  for i = 2, #jobs do values[#values + 1] = jobs[i] end
end
publishCollected(base, space)
return { outcome, unpack(values) }
end
${later.writeLater}\n${lua.failureReply}\nlocal queue = KEYS[1]
local base, space, actions, count, deliveryTimeoutMs, isAcked, ackWithinMs, workerId, eventsPerJob, retentionMs, random, notAfter, nameCount = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8], ARGV[9], ARGV[10], ARGV[11], ARGV[12], ARGV[13]
local inputs = { unpack(ARGV, 14) }
local ok, reply = pcall(turnScript, queue, base, space, actions, count, deliveryTimeoutMs, isAcked, ackWithinMs, workerId, eventsPerJob, retentionMs,
  random, notAfter, nameCount, inputs)
writeLater()
return ok and reply or failureReply(reply)
`,
} as const;

export const copy = {
  name: 'copy', sha1: 'b93f77ace733444879f7768ba21705b5a088532b',
  keyCount: 1,
  parameters: ({ keys, args, rest }: { keys: { jobKey: string }; args: { base: ScriptArgument; jobId: ScriptArgument; keySpaceId: ScriptArgument; copyId: ScriptArgument; payload: ScriptArgument; notAfter: ScriptArgument }; rest: readonly ScriptArgument[] }): ScriptArgument[] => [keys.jobKey, args.base, args.jobId, args.keySpaceId, args.copyId, args.payload, args.notAfter, ...rest],
  decode: (r: unknown[]) => ({ record: r[1] as string[] }),
  text: `${lua.stored}\n${lua.loadJob}\n${lua.refusalFor}\n${lua.now}\n${lua.isTooLate}\n${lua.maxPendingIn}\n${lua.settingsText}\n${lua.formatInteger}\n${lua.nextOrder}\n${lua.timeOf}\n${lua.tagIndex}\n${lua.enterTags}\n${lua.startLimit}\n${lua.wake}\n${lua.enqueue}\n${lua.queueScore}\n${lua.enterWaiting}\n${lua.quote}\n${lua.eventMessage}\n${lua.publishCreation}\n${lua.addJob}\nlocal jobKey = KEYS[1]
local base, jobId, keySpaceId, copyId, payload, notAfter = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local names = { unpack(ARGV, 7) }
local job, priority, startWithin = loadJob(jobKey, base, jobId, 'priority', 'startWithinSeconds')
local refusal = refusalFor(job.status, job.space, keySpaceId)
if refusal then return { refusal } end
local nowMs, _, micros = now()
if isTooLate(nowMs, notAfter) then return { 'TOO_LATE' } end
local most = maxPendingIn(settingsText(base, job.space))
if most and redis.call('ZCARD', base .. 'space:' .. job.space .. '/status/pending') >= most then return { 'SPACE_FULL' } end
local fields = { 'copyOf', jobId }
local values = redis.call('HMGET', jobKey, unpack(names))
for i, name in ipairs(names) do
  local value = stored(values[i])
  if name == 'payload' and payload ~= '' then value = payload ~= 'null' and payload or nil end
  if value then fields[#fields + 1], fields[#fields + 2] = name, value end
end
local copy = { key = base .. 'job:' .. copyId, base = base, id = copyId, space = job.space, name = job.name }
addJob(copy, nowMs, micros, fields, { delay = '', options = { priority, startWithin } }, job.tags)
return { 'OK', redis.call('HGETALL', copy.key) }
`,
} as const;

export const create = {
  name: 'create', sha1: 'c38bb14349223d1232a4055f09a89dd162e44fa4',
  keyCount: 1,
  parameters: ({ keys, args, rest }: { keys: { jobKey: string }; args: { base: ScriptArgument; jobId: ScriptArgument; space: ScriptArgument; name: ScriptArgument; notAfter: ScriptArgument }; rest: readonly ScriptArgument[] }): ScriptArgument[] => [keys.jobKey, args.base, args.jobId, args.space, args.name, args.notAfter, ...rest],
  decode: (r: unknown[]) => ({ order: r[1] as string }),
  text: `${lua.now}\n${lua.isTooLate}\n${lua.formatInteger}\n${lua.nextOrder}\n${lua.wake}\n${lua.enqueue}\n${lua.quote}\n${lua.eventMessage}\n${lua.publishCreation}\nlocal jobKey = KEYS[1]
local base, jobId, space, name, notAfter = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local fields = { unpack(ARGV, 6) }
local nowMs, _, micros = now()
if isTooLate(nowMs, notAfter) then return { 'TOO_LATE' } end
local moment = nowMs * 1024 + math.floor(micros % 1000 * 1.024)
local order = nextOrder(base, space, moment)
local created = { key = jobKey, base = base, id = jobId, space = space, name = name }
redis.call('HSET', jobKey, 'status', 'pending', 'space', space, 'name', name, 'order', order, unpack(fields))
redis.call('ZADD', base .. 'space:' .. space .. '/jobs', order, jobId)
redis.call('ZADD', base .. 'space:' .. space .. '/status/pending', order, jobId)
redis.call('ZINCRBY', base .. 'space:' .. space .. '/names', '1', name)
enqueue(created, order)
publishCreation(created, 'pending', order)
return { 'OK', order }
`,
} as const;

export const create_full = {
  name: 'create_full', sha1: 'f6a60181063e3a59727fa358013971d584be4e1e',
  keyCount: 1,
  parameters: ({ keys, args, rest }: { keys: { jobKey: string }; args: { base: ScriptArgument; jobId: ScriptArgument; space: ScriptArgument; name: ScriptArgument; notAfter: ScriptArgument; fingerprint: ScriptArgument; unique: ScriptArgument; eventsPerJob: ScriptArgument; replayed: ScriptArgument; shown: ScriptArgument; maxPending: ScriptArgument; delay: ScriptArgument; priority: ScriptArgument; startWithin: ScriptArgument; tags: ScriptArgument }; rest: readonly ScriptArgument[] }): ScriptArgument[] => [keys.jobKey, args.base, args.jobId, args.space, args.name, args.notAfter, args.fingerprint, args.unique, args.eventsPerJob, args.replayed, args.shown, args.maxPending, args.delay, args.priority, args.startWithin, args.tags, ...rest],
  decode: (r: unknown[]) => (r[0] === 'CREATED' ? { outcome: 'CREATED' as const, order: r[1] as string, scheduledFor: r[2] as string } : r[0] === 'REPLAYED' ? { outcome: 'REPLAYED' as const, values: r[1] as (string | null)[] } : r[0] === 'RETURNED' ? { outcome: 'RETURNED' as const, id: r[1] as string, values: r[2] as (string | null)[] } : r[0] === 'REPLACED' ? { outcome: 'REPLACED' as const, id: r[1] as string, values: r[2] as (string | null)[], before: r[3] as Status } : { outcome: 'NOT_UNIQUE' as const, id: r[1] as string, status: r[2] as Status }),
  text: `${lua.now}\n${lua.isTooLate}\n${lua.uniqueEntry}\n${lua.stored}\n${lua.loadJob}\n${lua.occupiesUnique}\n${lua.uniqueHolder}\n${lua.formatInteger}\n${lua.nextOrder}\n${lua.timeOf}\n${lua.tagIndex}\n${lua.enterTags}\n${lua.startLimit}\n${lua.wake}\n${lua.enqueue}\n${lua.queueScore}\n${lua.enterWaiting}\n${lua.quote}\n${lua.eventMessage}\n${lua.publishCreation}\n${lua.addJob}\n${lua.occupyUnique}\nlocal jobKey = KEYS[1]
local base, jobId, space, name, notAfter, fingerprint, unique, eventsPerJob, replayed, shown, maxPending, delay, priority, startWithin, tags = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8], ARGV[9], ARGV[10], ARGV[11], ARGV[12], ARGV[13], ARGV[14], ARGV[15]
local fields = { unpack(ARGV, 16) }
local nowMs, nowText, micros = now()
if isTooLate(nowMs, notAfter) then return { 'TOO_LATE' } end
local waits = { delay = delay, options = { priority ~= '' and priority, startWithin ~= '' and startWithin } }
local function valuesOf(key, fieldNames)
  local names = {}
  for field in string.gmatch(fieldNames, '%S+') do names[#names + 1] = field end
  return redis.call('HMGET', key, unpack(names))
end
if fingerprint ~= '' then
  local v = redis.call('HMGET', jobKey, 'status', 'fingerprint')
  if stored(v[1]) and stored(v[2]) ~= fingerprint then return { 'IDEMPOTENCY_MISMATCH' } end
  if stored(v[1]) then return { 'REPLAYED', valuesOf(jobKey, replayed) } end
end
local job = { key = jobKey, base = base, id = jobId, space = space, name = name }
local other, isOccupied
if unique ~= '' then other, isOccupied = uniqueHolder(job, unique, nowMs) end
if isOccupied then
${lua.claimOrder}\n${lua.dequeue}\n${lua.leaveWaiting}\n${lua.leaveTags}\n${lua.moveToStatusIndex}\n${lua.returnToWaiting}\n${lua.isoText}\nlocal function appendEvent(job, at, type, data, eventsPerJob)
  local history = job.key .. ':events'
  local kept = (data == 'null' or type == 'completed') and '' or ',' .. data
  local entry = '["' .. type .. '",' .. at .. kept .. ']'
  local length = job.isNew and 0 or redis.call('RPUSHX', history, entry)
  local impliedSeq = type == 'delivered' and '2' or type == 'acked' and '3' or type == 'completed' and '4'
  if length == 0 and not impliedSeq then
${lua.impliedEntries}\n    local entries = impliedEntries(job.key, job.status)
    entries[#entries + 1] = entry
    length = redis.call('RPUSH', history, unpack(entries))
  end
  if length > 0 then
${lua.keepNewest}\n    return formatInteger(keepNewest(job, history, length, eventsPerJob))
  end
  return impliedSeq
end
${lua.publish}\n${lua.recordEvent}\n${lua.replaceJob}\n  local onConflict = string.match(unique, '^%l+ (%l+)')
  if onConflict == 'reject' then return { 'NOT_UNIQUE', other.id, other.status } end
  local isReplaced = onConflict == 'replace' and (other.status == 'pending' or other.status == 'scheduled')
  if not isReplaced then return { 'RETURNED', other.id, valuesOf(other.key, shown) } end
  replaceJob(other, nowMs, eventsPerJob, fields, waits, tags)
  return { 'REPLACED', other.id, valuesOf(other.key, shown), other.status }
end
if maxPending ~= '' and redis.call('ZCARD', base .. 'space:' .. space .. '/status/pending') >= tonumber(maxPending) then return { 'SPACE_FULL' } end
if fingerprint ~= '' then fields[#fields + 1], fields[#fields + 2] = 'fingerprint', fingerprint end
local order, scheduledFor = addJob(job, nowMs, micros, fields, waits, tags)
if unique ~= '' then occupyUnique(job, unique, other) end
return { 'CREATED', order, scheduledFor and formatInteger(scheduledFor) or '' }
`,
} as const;

export const create_many = {
  name: 'create_many', sha1: 'd7727bea3b177b6a05b435989147c72bc5f14e9d',
  keyCount: 1,
  parameters: ({ keys, args, rest }: { keys: { queue: string }; args: { base: ScriptArgument; space: ScriptArgument; notAfter: ScriptArgument; isKeyed: ScriptArgument }; rest: readonly ScriptArgument[] }): ScriptArgument[] => [keys.queue, args.base, args.space, args.notAfter, args.isKeyed, ...rest],
  decode: (r: unknown[]) => ({ outcomes: r[1] as string }),
  text: `${lua.now}\n${lua.isTooLate}\n${lua.entriesOf}\n${lua.stored}\n${lua.formatInteger}\n${lua.nextOrder}\n${lua.failureReply}\nlocal queue = KEYS[1]
local base, space, notAfter, isKeyed = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local jobs = { unpack(ARGV, 5) }
local nowMs, _, micros = now()
if isTooLate(nowMs, notAfter) then return { 'TOO_LATE' } end
local prefix, order = base .. 'space:' .. space .. '/', nil
local outcomes, names, entries, entriesOf = {}, {}, {}, {}
local function replayed(jobKey, id, fingerprint)
  local v = redis.call('HMGET', jobKey, 'status', 'fingerprint', 'order')
  if not stored(v[1]) then return nil end
  if stored(v[2]) ~= fingerprint then return 'IDEMPOTENCY_MISMATCH' end
  return 'REPLAYED ' .. id .. ' ' .. v[1] .. ' ' .. v[3]
end
local function createOne(jobKey, id, name, first, last)
  order = order and formatInteger(order + 1) or nextOrder(base, space, nowMs * 1024 + math.floor(micros % 1000 * 1.024))
  redis.call('HSET', jobKey, 'status', 'pending', 'space', space, 'name', name, 'order', order, unpack(jobs, first, last))
  local ofName = entriesOf[name] or {}
  entriesOf[name] = ofName
  entries[#entries + 1], entries[#entries + 2], names[#names + 1] = order, id, name
  ofName[#ofName + 1], ofName[#ofName + 2] = order, id
  return order
end
local function createAll()
  local i, outcome = 1, nil
  while jobs[i] and outcome ~= 'IDEMPOTENCY_MISMATCH' do
    local id, name, first, last = jobs[i], jobs[i + 1], i + 3, i + 2 + jobs[i + 2]
    local jobKey = base .. 'job:' .. id
    outcome = isKeyed ~= '' and replayed(jobKey, id, jobs[first + 1]) or createOne(jobKey, id, name, first, last)
    outcomes[#outcomes + 1] = outcome
    i = last + 1
  end
end
local ok, failure = pcall(createAll)
if entries[1] then
${lua.wakeForEach}\n${lua.quote}\n${lua.eventMessage}\n${lua.publishCreation}\n${lua.publishCreations}\n  redis.call('ZADD', base .. 'spaces', order, space)
  for _, index in ipairs({ prefix .. 'jobs', prefix .. 'status/pending', queue }) do redis.call('ZADD', index, unpack(entries)) end
  for name, ofName in pairs(entriesOf) do
    redis.call('ZADD', queue .. '/' .. name, unpack(ofName))
    redis.call('ZINCRBY', prefix .. 'names', #ofName / 2, name)
    wakeForEach({ base = base, space = space, name = name }, #ofName / 2)
  end
  publishCreations(base, space, names, entries)
end
if not ok then return failureReply(failure) end
return { 'OK', table.concat(outcomes, '\\n') }
`,
} as const;

export const create_many_full = {
  name: 'create_many_full', sha1: '9e7c7fe33347e07e3778fdb8e2f16fc8be993175',
  keyCount: 1,
  parameters: ({ keys, args, rest }: { keys: { queue: string }; args: { base: ScriptArgument; space: ScriptArgument; notAfter: ScriptArgument; eventsPerJob: ScriptArgument; maxPending: ScriptArgument }; rest: readonly ScriptArgument[] }): ScriptArgument[] => [keys.queue, args.base, args.space, args.notAfter, args.eventsPerJob, args.maxPending, ...rest],
  decode: (r: unknown[]) => ({ outcomes: r[1] as string }),
  text: `${lua.isTooLate}\n${collected.clock}\nlocal function now()
  if not clock then
${later.later}\n${later.writeSets}\n${later.redis}\n    local time = redis.call('TIME')
    local ms = math.floor(time[2] / 1000)
    clock = { time[1] * 1000.0 + ms, time[1] .. string.format('%03d', ms), time[2] }
  end
  return clock[1], clock[2], clock[3]
end
${later.later}\n${later.writeSets}\n${later.redis}\n${lua.uniqueEntry}\n${lua.stored}\n${lua.loadJob}\n${lua.occupiesUnique}\n${lua.uniqueHolder}\n${lua.formatInteger}\n${later.nextOrder}\n${lua.timeOf}\n${lua.tagIndex}\n${lua.enterTags}\n${lua.startLimit}\n${collected.collected}\n${collected.wake}\n${lua.enqueue}\n${lua.queueScore}\n${lua.enterWaiting}\n${collected.publish}\n${collected.publishCreation}\n${lua.addJob}\n${lua.occupyUnique}\nlocal function createFullScript(jobKey, base, jobId, space, name, notAfter, fingerprint, unique, eventsPerJob, replayed, shown, maxPending, delay, priority, startWithin, tags, fields)
local nowMs, nowText, micros = now()
if isTooLate(nowMs, notAfter) then return { 'TOO_LATE' } end
local waits = { delay = delay, options = { priority ~= '' and priority, startWithin ~= '' and startWithin } }
local function valuesOf(key, fieldNames)
  local names = {}
  for field in string.gmatch(fieldNames, '%S+') do names[#names + 1] = field end
  return redis.call('HMGET', key, unpack(names))
end
if fingerprint ~= '' then
  local v = redis.call('HMGET', jobKey, 'status', 'fingerprint')
  if stored(v[1]) and stored(v[2]) ~= fingerprint then return { 'IDEMPOTENCY_MISMATCH' } end
  if stored(v[1]) then return { 'REPLAYED', valuesOf(jobKey, replayed) } end
end
local job = { key = jobKey, base = base, id = jobId, space = space, name = name }
local other, isOccupied
if unique ~= '' then other, isOccupied = uniqueHolder(job, unique, nowMs) end
if isOccupied then
${lua.claimOrder}\n${lua.dequeue}\n${lua.leaveWaiting}\n${lua.leaveTags}\n${lua.moveToStatusIndex}\n${lua.returnToWaiting}\n${lua.isoText}\nlocal function appendEvent(job, at, type, data, eventsPerJob)
  local history = job.key .. ':events'
  local kept = (data == 'null' or type == 'completed') and '' or ',' .. data
  local entry = '["' .. type .. '",' .. at .. kept .. ']'
  local length = job.isNew and 0 or redis.call('RPUSHX', history, entry)
  local impliedSeq = type == 'delivered' and '2' or type == 'acked' and '3' or type == 'completed' and '4'
  if length == 0 and not impliedSeq then
${lua.impliedEntries}\n    local entries = impliedEntries(job.key, job.status)
    entries[#entries + 1] = entry
    length = redis.call('RPUSH', history, unpack(entries))
  end
  if length > 0 then
${lua.keepNewest}\n    return formatInteger(keepNewest(job, history, length, eventsPerJob))
  end
  return impliedSeq
end
${lua.recordEvent}\n${lua.replaceJob}\n  local onConflict = string.match(unique, '^%l+ (%l+)')
  if onConflict == 'reject' then return { 'NOT_UNIQUE', other.id, other.status } end
  local isReplaced = onConflict == 'replace' and (other.status == 'pending' or other.status == 'scheduled')
  if not isReplaced then return { 'RETURNED', other.id, valuesOf(other.key, shown) } end
  replaceJob(other, nowMs, eventsPerJob, fields, waits, tags)
  return { 'REPLACED', other.id, valuesOf(other.key, shown), other.status }
end
if maxPending ~= '' and redis.call('ZCARD', base .. 'space:' .. space .. '/status/pending') >= tonumber(maxPending) then return { 'SPACE_FULL' } end
if fingerprint ~= '' then fields[#fields + 1], fields[#fields + 2] = 'fingerprint', fingerprint end
local order, scheduledFor = addJob(job, nowMs, micros, fields, waits, tags)
if unique ~= '' then occupyUnique(job, unique, other) end
return { 'CREATED', order, scheduledFor and formatInteger(scheduledFor) or '' }
end
${later.writeLater}\n${lua.quote}\n${lua.eventMessage}\n${collected.publishCollected}\n${lua.failureReply}\nlocal queue = KEYS[1]
local base, space, notAfter, eventsPerJob, maxPending = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local jobs = { unpack(ARGV, 6) }
if isTooLate(now(), notAfter) then return { 'TOO_LATE' } end
later.isWritten = true
local outcomes = {}
local room = maxPending ~= '' and maxPending - redis.call('ZCARD', base .. 'space:' .. space .. '/status/pending') or math.huge
local function createAll()
  local i, outcome = 1, nil
  while jobs[i] and outcome ~= 'IDEMPOTENCY_MISMATCH' and outcome ~= 'SPACE_FULL' do
    local id, name, fingerprint, unique, delay, priority, startWithin, tags, count = unpack(jobs, i, i + 8)
    local last, shown = i + 8 + count, 'status order'
    local reply = createFullScript(base .. 'job:' .. id, base, id, space, name, '', fingerprint, unique, eventsPerJob, shown,
      shown, room > 0 and '' or '0', delay, priority, startWithin, tags, { unpack(jobs, i + 9, last) })
    outcome = reply[1]
    if outcome == 'CREATED' then
      if reply[3] == '' then room = room - 1 end
      outcome = reply[2] .. (reply[3] ~= '' and '+' or '')
    elseif outcome == 'REPLAYED' then
      outcome = 'REPLAYED ' .. id .. ' ' .. table.concat(reply[2], ' ')
    elseif outcome ~= 'IDEMPOTENCY_MISMATCH' and outcome ~= 'SPACE_FULL' then
      outcome = outcome .. ' ' .. reply[2] .. ' ' .. table.concat(reply[3], ' ') .. ' ' .. (reply[4] or '')
    end
    outcomes[#outcomes + 1] = outcome
    i = last + 1
  end
end
local ok, failure = pcall(createAll)
writeLater()
publishCollected(base, space)
if not ok then return failureReply(failure) end
return { 'OK', table.concat(outcomes, '\\n') }
`,
} as const;

export const delete_job = {
  name: 'delete_job', sha1: 'c28a8679895ce614ebc545b709ebe8f2f22dde06',
  keyCount: 1,
  parameters: ({ keys, args }: { keys: { jobKey: string }; args: { base: ScriptArgument; jobId: ScriptArgument; keySpaceId: ScriptArgument } }): ScriptArgument[] => [keys.jobKey, args.base, args.jobId, args.keySpaceId],
  decode: (r: unknown[]) => ({ before: r[1] as Status }),
  text: `${lua.stored}\n${lua.loadJob}\n${lua.refusalFor}\n${lua.uniqueEntry}\n${lua.freeUnique}\n${lua.tagIndex}\n${lua.leaveTags}\nlocal function purge(job, nowMs, unique)
  local deadlines = job.base .. 'deadlines'
  if redis.call('ZSCORE', job.base .. 'callbacks', job.id) then
${lua.replaceEntry}\n${lua.formatInteger}\n    replaceEntry(deadlines, job.id, formatInteger(nowMs + 60000))
    return false
  end
  local space = job.base .. 'space:' .. job.space
  redis.call('ZREM', deadlines, job.id)
  redis.call('ZREM', space .. '/jobs', job.id)
  redis.call('ZREM', space .. '/status/' .. job.status, job.id)
  if tonumber(redis.call('ZINCRBY', space .. '/names', -1, job.name)) <= 0 then redis.call('ZREM', space .. '/names', job.name) end
  if stored(unique) then freeUnique(job, unique) end
  leaveTags(job)
  redis.call('UNLINK', job.key, job.key .. ':events', job.key .. ':logs')
  if redis.call('ZCARD', space .. '/jobs') == 0 then redis.call('ZREM', job.base .. 'spaces', job.space) end
  return true
end
${lua.now}\nlocal jobKey = KEYS[1]
local base, jobId, keySpaceId = ARGV[1], ARGV[2], ARGV[3]
local job, unique = loadJob(jobKey, base, jobId, 'unique')
local refusal = refusalFor(job.status, job.space, keySpaceId)
if refusal then return { refusal } end
if job.status ~= 'completed' and job.status ~= 'dead' and job.status ~= 'killed' then return { 'JOB_NOT_ENDED', job.status } end
redis.call('ZREM', base .. 'callbacks', jobId)
purge(job, now(), unique)
return { 'OK', job.status }
`,
} as const;

export const find = {
  name: 'find', sha1: '1f8eec11182862f62068114097dba82586375503',
  keyCount: 1,
  parameters: ({ keys, args, rest }: { keys: { jobs: string }; args: { base: ScriptArgument; space: ScriptArgument; order: ScriptArgument; min: ScriptArgument; max: ScriptArgument; most: ScriptArgument; statuses: ScriptArgument; tags: ScriptArgument }; rest: readonly ScriptArgument[] }): ScriptArgument[] => [keys.jobs, args.base, args.space, args.order, args.min, args.max, args.most, args.statuses, args.tags, ...rest],
  decode: (r: unknown[]) => ({ reached: r[1] as string, found: r[2] as string[] }),
  text: `${lua.entriesOf}\n${lua.indexesFor}\n${lua.stored}\n${lua.hasTags}\n${lua.filterBy}\nlocal jobs = KEYS[1]
local base, space, order, min, max, most, statuses, tags = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8]
local names = { unpack(ARGV, 9) }
most = tonumber(most)
local placeOf, ids = entriesOf(indexesFor(base .. 'space:' .. space .. '/', statuses, tags), order, min, max, most + 1)
local passes, found = filterBy(statuses, tags, names), {}
for at = 1, math.min(most, #ids) do
  local key = base .. 'job:' .. ids[at]
  if passes(key) then
    local bytes = redis.call('HSTRLEN', key, 'payload') + redis.call('HSTRLEN', key, 'result')
    found[#found + 1], found[#found + 2] = ids[at], tostring(bytes)
  end
end
return { 'OK', ids[most + 1] and placeOf(most) or '', { unpack(found) } }
`,
} as const;

export const list = {
  name: 'list', sha1: '86074ae56707e85851b4c4939445ca7ae3b64a80',
  keyCount: 1,
  parameters: ({ keys, args, rest }: { keys: { jobs: string }; args: { base: ScriptArgument; space: ScriptArgument; order: ScriptArgument; min: ScriptArgument; max: ScriptArgument; offset: ScriptArgument; limit: ScriptArgument; most: ScriptArgument; budget: ScriptArgument; statuses: ScriptArgument; tags: ScriptArgument; nameCount: ScriptArgument }; rest: readonly ScriptArgument[] }): ScriptArgument[] => [keys.jobs, args.base, args.space, args.order, args.min, args.max, args.offset, args.limit, args.most, args.budget, args.statuses, args.tags, args.nameCount, ...rest],
  decode: (r: unknown[]) => ({ reached: r[1] as string, rows: r.slice(2) as (string | null)[][] }),
  text: `${lua.indexesFor}\n${lua.entriesOf}\n${lua.stored}\n${lua.hasTags}\n${lua.filterBy}\nlocal jobs = KEYS[1]
local base, space, order, min, max, offset, limit, most, budget, statuses, tags, nameCount = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8], ARGV[9], ARGV[10], ARGV[11], ARGV[12]
local namesAndFields = { unpack(ARGV, 13) }
local indexes = indexesFor(base .. 'space:' .. space .. '/', statuses, tags)
if tonumber(offset) > 0 then
  local first = redis.call('ZREVRANGE', indexes[1], offset, offset, 'WITHSCORES')
  if not first[2] then return { 'OK', '' } end
  max = first[2]
end
limit, most, budget, nameCount = tonumber(limit), tonumber(most), tonumber(budget), tonumber(nameCount)
local placeOf, ids = entriesOf(indexes, order, min, max, most + 1)
local passes, fieldCount = filterBy(statuses, tags, { unpack(namesAndFields, 1, nameCount) }), #namesAndFields - nameCount
local rows, bytes, at = {}, 0, 1
while at <= most and ids[at] and #rows < limit and bytes <= budget do
  local key = base .. 'job:' .. ids[at]
  local values = passes(key) and redis.call('HMGET', key, unpack(namesAndFields, nameCount + 1))
  if values and type(values[1]) == 'string' then
    rows[#rows + 1] = { ids[at], unpack(values, 1, fieldCount) }
    for i = 1, fieldCount do
      if type(values[i]) == 'string' then bytes = bytes + #values[i] end
    end
  end
  at = at + 1
end
return { 'OK', ids[at] and placeOf(at - 1) or '', unpack(rows) }
`,
} as const;

export const kill = {
  name: 'kill', sha1: '42f1e621fa5928cf10ada781d6961a699938a93e',
  keyCount: 1,
  parameters: ({ keys, args }: { keys: { jobKey: string }; args: { base: ScriptArgument; jobId: ScriptArgument; keySpaceId: ScriptArgument; reason: ScriptArgument; eventsPerJob: ScriptArgument; retentionMs: ScriptArgument } }): ScriptArgument[] => [keys.jobKey, args.base, args.jobId, args.keySpaceId, args.reason, args.eventsPerJob, args.retentionMs],
  decode: (r: unknown[]) => ({ before: r[1] as Status, space: r[2] as string, name: r[3] as string }),
  text: `${lua.stored}\n${lua.loadJob}\n${lua.refusalFor}\n${lua.now}\n${lua.moveToStatusIndex}\nlocal function startRetention(job, nowMs, retentionMs)
  if tonumber(retentionMs) > 0 then
${lua.formatInteger}\n    redis.call('ZADD', job.base .. 'deadlines', formatInteger(nowMs + tonumber(retentionMs)), job.id)
  else
    redis.call('ZREM', job.base .. 'deadlines', job.id)
    redis.call('HSET', job.key, 'kept', '1')
  end
end
${lua.retentionIn}\n${lua.settingsText}\n${lua.wantsCallback}\nlocal function appendEvent(job, at, type, data, eventsPerJob)
  local history = job.key .. ':events'
  local kept = (data == 'null' or type == 'completed') and '' or ',' .. data
  local entry = '["' .. type .. '",' .. at .. kept .. ']'
  local length = job.isNew and 0 or redis.call('RPUSHX', history, entry)
  local impliedSeq = type == 'delivered' and '2' or type == 'acked' and '3' or type == 'completed' and '4'
  if length == 0 and not impliedSeq then
${lua.impliedEntries}\n    local entries = impliedEntries(job.key, job.status)
    entries[#entries + 1] = entry
    length = redis.call('RPUSH', history, unpack(entries))
  end
  if length > 0 then
${lua.formatInteger}\n${lua.keepNewest}\n    return formatInteger(keepNewest(job, history, length, eventsPerJob))
  end
  return impliedSeq
end
${lua.quote}\n${lua.eventMessage}\n${lua.publish}\n${lua.recordEvent}\nlocal jobKey = KEYS[1]
local base, jobId, keySpaceId, reason, eventsPerJob, retentionMs = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local job, unique, startBy, callbackUrl, callbackOn = loadJob(jobKey, base, jobId, 'unique', 'startBy', 'callbackUrl', 'callbackOn')
local refusal = refusalFor(job.status, job.space, keySpaceId)
if refusal then return { refusal } end
if job.status == 'killed' then return { 'OK', 'killed', job.space, job.name } end
if job.status == 'completed' or job.status == 'dead' then return { 'JOB_ENDED', job.status } end
local nowMs, nowText = now()
if job.status ~= 'running' then
${lua.dequeue}\n${lua.leaveWaiting}\n  leaveWaiting(job, startBy)
end
moveToStatusIndex(job, 'killed')
startRetention(job, nowMs, retentionIn(settingsText(base, job.space), 'killed', retentionMs))
if stored(unique) then
${lua.uniqueEntry}\n${lua.freeUnique}\n  freeUnique(job, unique, 'expired')
end
if wantsCallback('killed', callbackUrl, callbackOn) then
${lua.formatInteger}\n${lua.enqueueCallback}\n  redis.call('HSET', jobKey, 'killReason', reason)
  enqueueCallback(job, nowMs)
end
recordEvent(job, nowText, 'killed', 'killed', '{"reason":' .. reason .. '}', eventsPerJob)
return { 'OK', job.status, job.space, job.name }
`,
} as const;

export const get = {
  name: 'get', sha1: '2f7ca0b71574af225c0fc291e8f854a8225cbc57',
  keyCount: 1,
  parameters: ({ keys, args }: { keys: { jobKey: string }; args: { keySpaceId: ScriptArgument; portion: ScriptArgument; budget: ScriptArgument } }): ScriptArgument[] => [keys.jobKey, args.keySpaceId, args.portion, args.budget],
  decode: (r: unknown[]) => (r[0] === 'OK' ? { outcome: 'OK' as const, record: r[1] as string[], events: r[2] as string[], length: Number(r[3]) } : { outcome: 'LARGE' as const }),
  text: `${lua.refusalFor}\n${lua.stored}\nlocal jobKey = KEYS[1]
local keySpaceId, portion, budget = ARGV[1], ARGV[2], ARGV[3]
local v = redis.call('HMGET', jobKey, 'space', 'status')
local refusal = refusalFor(stored(v[2]), v[1], keySpaceId)
if refusal then return { refusal } end
local left = tonumber(budget)
for _, field in ipairs({ 'payload', 'result', 'progress', 'checkpoint', 'error', 'callbackHeaders' }) do
  left = left - redis.call('HSTRLEN', jobKey, field)
end
local length = redis.call('LLEN', jobKey .. ':events')
local events = {}
if length == 0 then
${lua.impliedEntries}\n  events = impliedEntries(jobKey, v[2])
  length = #events
end
for first = #events, math.min(length, tonumber(portion)) - 1, 20 do
  if left < 0 then break end
  local last = math.min(first + 20, tonumber(portion)) - 1
  for _, entry in ipairs(redis.call('LRANGE', jobKey .. ':events', first, last)) do
    events[#events + 1] = entry
    left = left - #entry
  end
end
if left < 0 then return { 'LARGE' } end
return { 'OK', redis.call('HGETALL', jobKey), { unpack(events) }, length }
`,
} as const;

export const history = {
  name: 'history', sha1: '7373a8314e21a4cdb17f915370e714400e93b752',
  keyCount: 1,
  parameters: ({ keys, args }: { keys: { jobKey: string }; args: { fromSeq: ScriptArgument; portion: ScriptArgument } }): ScriptArgument[] => [keys.jobKey, args.fromSeq, args.portion],
  decode: (r: unknown[]) => ({ firstSeq: Number(r[1]), events: r[2] as string[] }),
  text: `local jobKey = KEYS[1]
local fromSeq, portion = ARGV[1], ARGV[2]
local dropped = tonumber(redis.call('HGET', jobKey, 'eventsDropped') or 0)
local first = math.max(0, tonumber(fromSeq) - 2 - dropped)
local events = redis.call('LRANGE', jobKey .. ':events', first, first + tonumber(portion) - 1)
return { 'OK', first + 2 + dropped, events }
`,
} as const;

export const since = {
  name: 'since', sha1: '9ec8afbb0ee1bf8691c7d9444dfa8a69273b4e08',
  keyCount: 1,
  parameters: ({ keys, args }: { keys: { jobKey: string }; args: { fromSeq: ScriptArgument; portion: ScriptArgument } }): ScriptArgument[] => [keys.jobKey, args.fromSeq, args.portion],
  decode: (r: unknown[]) => ({ firstSeq: Number(r[1]), events: r[2] as string[], lastSeq: Number(r[3]), logSeq: Number(r[4]), newestLog: r[5] as (string | null), status: r[6] as Status, name: r[7] as string, space: r[8] as string, result: r[9] as (string | null) }),
  text: `${lua.stored}\nlocal jobKey = KEYS[1]
local fromSeq, portion = ARGV[1], ARGV[2]
local v = redis.call('HMGET', jobKey, 'eventsDropped', 'logsDropped', 'status', 'name', 'space', 'result')
if not stored(v[3]) then return { 'JOB_NOT_FOUND' } end
local dropped = tonumber(stored(v[1]) or 0)
local history, logs = jobKey .. ':events', jobKey .. ':logs'
local first = math.max(0, tonumber(fromSeq) - 2 - dropped)
local events = redis.call('LRANGE', history, first, first + tonumber(portion) - 1)
local length = redis.call('LLEN', history)
if length == 0 then
${lua.impliedEntries}\n  local implied = impliedEntries(jobKey, v[3])
  length = #implied
  events = { unpack(implied, first + 1) }
end
local lastSeq = 1 + dropped + length
local logSeq = tonumber(stored(v[2]) or 0) + redis.call('LLEN', logs)
return { 'OK', first + 2 + dropped, events, lastSeq, logSeq, redis.call('LINDEX', logs, -1), v[3], v[4], v[5], v[6] }
`,
} as const;

export const snapshot = {
  name: 'snapshot', sha1: '376223557946a26d55d07fa6c15aafd05b088bef',
  keyCount: 1,
  parameters: ({ keys, args }: { keys: { jobKey: string }; args: { keySpaceId: ScriptArgument } }): ScriptArgument[] => [keys.jobKey, args.keySpaceId],
  decode: (r: unknown[]) => ({ seq: Number(r[1]), droppedSeq: Number(r[2]), logSeq: Number(r[3]), at: Number(r[4]), status: r[5] as Status, space: r[6] as string, name: r[7] as string, updatedAt: r[8] === null ? null : Number(r[8]), progress: r[9] as (string | null), tags: r[10] as (string | null) }),
  text: `${lua.refusalFor}\n${lua.stored}\n${lua.impliedEntries}\n${lua.formatInteger}\n${lua.now}\nlocal jobKey = KEYS[1]
local keySpaceId = ARGV[1]
local v = redis.call('HMGET', jobKey, 'eventsDropped', 'logsDropped', 'status', 'space', 'name', 'updatedAt', 'progress', 'tags')
local refusal = refusalFor(stored(v[3]), v[4], keySpaceId)
if refusal then return { refusal } end
local length = redis.call('LLEN', jobKey .. ':events')
if length == 0 then length = #impliedEntries(jobKey, v[3]) end
local droppedSeq = 1 + tonumber(stored(v[1]) or 0)
local logSeq = tonumber(stored(v[2]) or 0) + redis.call('LLEN', jobKey .. ':logs')
return { 'OK', droppedSeq + length, droppedSeq, logSeq, formatInteger(now()), v[3], v[4], v[5], v[6], v[7], v[8] }
`,
} as const;

export const requeue = {
  name: 'requeue', sha1: '4ae08efdf0ae64e11b6c9918e177e415c047796f',
  keyCount: 1,
  parameters: ({ keys, args }: { keys: { jobKey: string }; args: { base: ScriptArgument; jobId: ScriptArgument; keySpaceId: ScriptArgument; delay: ScriptArgument; isDryRun: ScriptArgument; eventsPerJob: ScriptArgument } }): ScriptArgument[] => [keys.jobKey, args.base, args.jobId, args.keySpaceId, args.delay, args.isDryRun, args.eventsPerJob],
  decode: (r: unknown[]) => (r[0] === 'OK' ? { outcome: 'OK' as const, before: r[1] as Status, after: r[2] as Status } : { outcome: 'NOT_UNIQUE' as const, id: r[1] as string, status: r[2] as Status }),
  text: `${lua.stored}\n${lua.loadJob}\n${lua.refusalFor}\n${lua.now}\n${lua.occupiesUnique}\n${lua.takesUniqueBack}\n${lua.uniqueEntry}\n${lua.uniqueHolder}\n${lua.timeOf}\n${lua.moveToStatusIndex}\n${lua.formatInteger}\n${lua.nextOrder}\n${lua.startLimit}\n${lua.wake}\n${lua.enqueue}\n${lua.queueScore}\n${lua.enterWaiting}\n${lua.returnToWaiting}\n${lua.isoText}\nlocal function appendEvent(job, at, type, data, eventsPerJob)
  local history = job.key .. ':events'
  local kept = (data == 'null' or type == 'completed') and '' or ',' .. data
  local entry = '["' .. type .. '",' .. at .. kept .. ']'
  local length = job.isNew and 0 or redis.call('RPUSHX', history, entry)
  local impliedSeq = type == 'delivered' and '2' or type == 'acked' and '3' or type == 'completed' and '4'
  if length == 0 and not impliedSeq then
${lua.impliedEntries}\n    local entries = impliedEntries(job.key, job.status)
    entries[#entries + 1] = entry
    length = redis.call('RPUSH', history, unpack(entries))
  end
  if length > 0 then
${lua.keepNewest}\n    return formatInteger(keepNewest(job, history, length, eventsPerJob))
  end
  return impliedSeq
end
${lua.quote}\n${lua.eventMessage}\n${lua.publish}\n${lua.recordReturn}\n${lua.nextTakeBacks}\nlocal jobKey = KEYS[1]
local base, jobId, keySpaceId, delay, isDryRun, eventsPerJob = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local job, unique, freed, priority, startWithin, takeBacks =
  loadJob(jobKey, base, jobId, 'unique', 'uniqueFreed', 'priority', 'startWithinSeconds', 'takeBacks')
local refusal = refusalFor(job.status, job.space, keySpaceId)
if refusal then return { refusal } end
if job.status ~= 'dead' and job.status ~= 'killed' then return { 'JOB_NOT_DEAD', job.status } end
local nowMs, nowText = now()
local takesBack = stored(unique) and takesUniqueBack(job, unique, freed, nowMs)
local other, isOccupied
if takesBack then other, isOccupied = uniqueHolder(job, unique, nowMs) end
if other and other.id == jobId then other = nil end
if other and isOccupied then return { 'NOT_UNIQUE', other.id, other.status } end
if isDryRun ~= '' then return { 'OK', job.status, job.status } end
local before = job.status
redis.call('ZREM', base .. 'callbacks', jobId)
redis.call('HDEL', jobKey, 'attempt', 'result', 'error', 'deliveryTimeouts', 'startBy', 'killReason', 'kept',
  'callbackAttempts', 'callbackRound', 'callbackDueAt', 'callbackLeasedUntil')
job.attempt = '0'
local scheduledFor = timeOf(delay, nowMs)
local status = returnToWaiting(job, nowMs, scheduledFor, nil, { priority, startWithin })
if takesBack then
${lua.occupyUnique}\n  redis.call('HDEL', jobKey, 'uniqueFreed')
  occupyUnique(job, unique, other)
end
local data = scheduledFor and '{"scheduledFor":' .. isoText(scheduledFor) .. '}' or 'null'
recordReturn(job, nowText, 'requeued', status, data, eventsPerJob, 'takeBacks', nextTakeBacks(takeBacks))
return { 'OK', before, status }
`,
} as const;

export const reschedule = {
  name: 'reschedule', sha1: '54dce9ba9eff8b40f4645c36a4b4166c7925a880',
  keyCount: 1,
  parameters: ({ keys, args }: { keys: { jobKey: string }; args: { base: ScriptArgument; jobId: ScriptArgument; keySpaceId: ScriptArgument; delay: ScriptArgument; priority: ScriptArgument; eventsPerJob: ScriptArgument } }): ScriptArgument[] => [keys.jobKey, args.base, args.jobId, args.keySpaceId, args.delay, args.priority, args.eventsPerJob],
  decode: (r: unknown[]) => ({ before: r[1] as Status, after: r[2] as Status }),
  text: `${lua.stored}\n${lua.loadJob}\n${lua.refusalFor}\n${lua.now}\n${lua.dequeue}\n${lua.leaveWaiting}\n${lua.startLimit}\n${lua.timeOf}\n${lua.moveToStatusIndex}\n${lua.formatInteger}\n${lua.nextOrder}\n${lua.wake}\n${lua.enqueue}\n${lua.queueScore}\n${lua.enterWaiting}\n${lua.returnToWaiting}\n${lua.isoText}\nlocal function appendEvent(job, at, type, data, eventsPerJob)
  local history = job.key .. ':events'
  local kept = (data == 'null' or type == 'completed') and '' or ',' .. data
  local entry = '["' .. type .. '",' .. at .. kept .. ']'
  local length = job.isNew and 0 or redis.call('RPUSHX', history, entry)
  local impliedSeq = type == 'delivered' and '2' or type == 'acked' and '3' or type == 'completed' and '4'
  if length == 0 and not impliedSeq then
${lua.impliedEntries}\n    local entries = impliedEntries(job.key, job.status)
    entries[#entries + 1] = entry
    length = redis.call('RPUSH', history, unpack(entries))
  end
  if length > 0 then
${lua.keepNewest}\n    return formatInteger(keepNewest(job, history, length, eventsPerJob))
  end
  return impliedSeq
end
${lua.quote}\n${lua.eventMessage}\n${lua.publish}\n${lua.recordEvent}\nlocal jobKey = KEYS[1]
local base, jobId, keySpaceId, delay, priority, eventsPerJob = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local job, priorityNow, startWithin, startBy = loadJob(jobKey, base, jobId, 'priority', 'startWithinSeconds', 'startBy')
local refusal = refusalFor(job.status, job.space, keySpaceId)
if refusal then return { refusal } end
if job.status ~= 'scheduled' and job.status ~= 'pending' then return { 'JOB_NOT_PENDING', job.status } end
local nowMs, nowText = now()
leaveWaiting(job, startBy)
if priority == '0' then
  redis.call('HDEL', jobKey, 'priority')
  priorityNow = nil
elseif priority ~= '' then
  redis.call('HSET', jobKey, 'priority', priority)
  priorityNow = priority
end
if startLimit(job, startBy) then
  redis.call('HDEL', jobKey, 'startBy')
  startBy = nil
end
local scheduledFor = timeOf(delay, nowMs)
local status = returnToWaiting(job, nowMs, scheduledFor, nil, { priorityNow, startWithin, startBy })
if not scheduledFor then redis.call('HDEL', jobKey, 'scheduledFor') end
local data = '{"scheduledFor":' .. (scheduledFor and isoText(scheduledFor) or 'null')
data = data .. (priority == '' and '}' or ',"priority":' .. priority .. '}')
recordEvent(job, nowText, 'rescheduled', status, data, eventsPerJob)
return { 'OK', job.status, status }
`,
} as const;

export const append_logs = {
  name: 'append_logs', sha1: '202bcd268ae1fb5663b53f731a459d2289261723',
  keyCount: 1,
  parameters: ({ keys, args, rest }: { keys: { jobKey: string }; args: { base: ScriptArgument; jobId: ScriptArgument; keySpaceId: ScriptArgument; logsPerJob: ScriptArgument }; rest: readonly ScriptArgument[] }): ScriptArgument[] => [keys.jobKey, args.base, args.jobId, args.keySpaceId, args.logsPerJob, ...rest],
  decode: (r: unknown[]) => ({ lastSeq: Number(r[1]) }),
  text: `${lua.stored}\n${lua.loadJob}\n${lua.refusalFor}\n${lua.now}\n${lua.formatInteger}\n${lua.quote}\n${lua.eventMessage}\n${lua.publish}\nlocal jobKey = KEYS[1]
local base, jobId, keySpaceId, logsPerJob = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local entries = { unpack(ARGV, 5) }
local job = loadJob(jobKey, base, jobId)
local refusal = refusalFor(job.status, job.space, keySpaceId)
if refusal then return { refusal } end
local _, nowText = now()
local opening = '[' .. nowText
for i = 1, #entries do entries[i] = opening .. entries[i] end
local logs = jobKey .. ':logs'
local dropped = tonumber(stored(redis.call('HGET', jobKey, 'logsDropped')) or 0)
local length = redis.call('RPUSH', logs, unpack(entries))
local last = dropped + length
local excess = length - tonumber(logsPerJob)
if excess > 0 then
  redis.call('LTRIM', logs, excess, -1)
  redis.call('HSET', jobKey, 'logsDropped', formatInteger(dropped + excess))
end
local data = '{"fromSeq":' .. formatInteger(last - #entries + 1) .. ',"toSeq":' .. formatInteger(last) .. ',"count":' .. #entries .. '}'
publish(job, 'null', 'logs_appended', job.status, nowText, data)
return { 'OK', last }
`,
} as const;

export const read_logs = {
  name: 'read_logs', sha1: '44ce895b7901736849a653282672835f4548f080',
  keyCount: 1,
  parameters: ({ keys, args }: { keys: { jobKey: string }; args: { keySpaceId: ScriptArgument; direction: ScriptArgument; bound: ScriptArgument; most: ScriptArgument; budget: ScriptArgument } }): ScriptArgument[] => [keys.jobKey, args.keySpaceId, args.direction, args.bound, args.most, args.budget],
  decode: (r: unknown[]) => ({ dropped: Number(r[1]), newestSeq: Number(r[2]), lists: r.slice(3) as string[][] }),
  text: `${lua.stored}\n${lua.refusalFor}\n${lua.formatInteger}\nlocal jobKey = KEYS[1]
local keySpaceId, direction, bound, most, budget = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local v = redis.call('HMGET', jobKey, 'space', 'logsDropped')
local space = stored(v[1])
local refusal = refusalFor(space, space, keySpaceId)
if refusal then return { refusal } end
local logs = jobKey .. ':logs'
local dropped = tonumber(stored(v[2]) or 0)
local length = redis.call('LLEN', logs)
local first, last = 0, length - 1
if direction == 'after' then first = math.max(0, tonumber(bound) - dropped)
else last = math.min(last, tonumber(bound) - dropped - 2) end
local lists, bytes, left = {}, 0, tonumber(most)
while first <= last and left > 0 and bytes <= tonumber(budget) do
  local count = math.min(20, left, last - first + 1)
  local from = direction == 'after' and first or last - count + 1
  local list = redis.call('LRANGE', logs, formatInteger(from), formatInteger(from + count - 1))
  for i = 1, #list do bytes = bytes + #list[i] end
  if direction == 'after' then first = first + count else last = last - count end
  left = left - count
  lists[#lists + 1] = list
end
return { 'OK', dropped, dropped + length, unpack(lists) }
`,
} as const;

export const cancel_operation = {
  name: 'cancel_operation', sha1: 'cbb0e68a6222fa41d42a0a58f46bfa7a766c66d4',
  keyCount: 1,
  parameters: ({ keys, args }: { keys: { record: string }; args: { base: ScriptArgument; id: ScriptArgument; keySpaceId: ScriptArgument } }): ScriptArgument[] => [keys.record, args.base, args.id, args.keySpaceId],
  decode: (r: unknown[]) => ({ space: r[1] as string }),
  text: `${lua.stored}\nlocal record = KEYS[1]
local base, id, keySpaceId = ARGV[1], ARGV[2], ARGV[3]
local space, status, statuses, cursor, highest =
  unpack(redis.call('HMGET', record, 'space', 'status', 'statuses', 'cursor', 'highest'))
if not stored(space) then return { 'OPERATION_NOT_FOUND' } end
if keySpaceId ~= '' and keySpaceId ~= space then return { 'FORBIDDEN' } end
if status == 'running' then
${lua.now}\n${lua.formatInteger}\n${lua.endOperation}\n${lua.operationLeft}\n  local _, nowText = now()
  endOperation(base, id, 'cancelled', nowText, operationLeft(base .. 'space:' .. space .. '/', statuses, cursor, highest))
end
return { 'OK', space }
`,
} as const;

export const read_operations = {
  name: 'read_operations', sha1: 'c065ca05f557d3a1824295d673ddc15200e2c306',
  keyCount: 1,
  parameters: ({ keys, args, rest }: { keys: { list: string }; args: { base: ScriptArgument; most: ScriptArgument }; rest: readonly ScriptArgument[] }): ScriptArgument[] => [keys.list, args.base, args.most, ...rest],
  decode: (r: unknown[]) => ({ records: r[1] as string[][] }),
  text: `${lua.formatInteger}\n${lua.operationLeft}\nlocal list = KEYS[1]
local base, most = ARGV[1], ARGV[2]
local ids = { unpack(ARGV, 3) }
if #ids == 0 then ids = redis.call('ZRANGE', list, 0, most - 1) end
local records = {}
for i, id in ipairs(ids) do
  local values = redis.call('HGETALL', base .. 'operation:' .. id)
  local record = {}
  for n = 1, #values, 2 do record[values[n]] = values[n + 1] end
  local left = record.left or '0'
  if record.status == 'running' then
    left = formatInteger(operationLeft(base .. 'space:' .. record.space .. '/', record.statuses, record.cursor, record.highest))
  end
  records[i] = { id, left, unpack(values) }
end
return { 'OK', { unpack(records) } }
`,
} as const;

export const read_texts = {
  name: 'read_texts', sha1: 'cc9c1a4cc2b52375356b38558f902eb4372d9a69',
  keyCount: 1,
  parameters: ({ keys, args, rest }: { keys: { index: string }; args: { base: ScriptArgument; low: ScriptArgument; highest: ScriptArgument; most: ScriptArgument; budget: ScriptArgument }; rest: readonly ScriptArgument[] }): ScriptArgument[] => [keys.index, args.base, args.low, args.highest, args.most, args.budget, ...rest],
  decode: (r: unknown[]) => ({ rows: r[1] as (string | null)[][] }),
  text: `local index = KEYS[1]
local base, low, highest, most, budget = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local ids = { unpack(ARGV, 6) }
local found = {}
for i, id in ipairs(ids) do found[2 * i - 1], found[2 * i] = id, '' end
if #ids == 0 then found = redis.call('ZRANGEBYSCORE', index, low, highest, 'WITHSCORES', 'LIMIT', 0, most) end
local rows, bytes = {}, 0
for i = 1, #found, 2 do
  if bytes > tonumber(budget) then break end
  local texts = redis.call('HMGET', base .. 'job:' .. found[i], 'payload', 'result', 'error')
  rows[#rows + 1] = { found[i], found[i + 1], unpack(texts, 1, 3) }
  for n = 1, 3 do
    if type(texts[n]) == 'string' then bytes = bytes + #texts[n] end
  end
end
return { 'OK', { unpack(rows) } }
`,
} as const;

export const start_operation = {
  name: 'start_operation', sha1: 'e297e8a4ab4bba3e83cf63c8335aee2afed8a1c8',
  keyCount: 1,
  parameters: ({ keys, args, rest }: { keys: { record: string }; args: { base: ScriptArgument; id: ScriptArgument; space: ScriptArgument; fingerprint: ScriptArgument; running: ScriptArgument; kept: ScriptArgument; keptMs: ScriptArgument; lowest: ScriptArgument; highest: ScriptArgument; statuses: ScriptArgument; cursor: ScriptArgument; freesMemory: ScriptArgument }; rest: readonly ScriptArgument[] }): ScriptArgument[] => [keys.record, args.base, args.id, args.space, args.fingerprint, args.running, args.kept, args.keptMs, args.lowest, args.highest, args.statuses, args.cursor, args.freesMemory, ...rest],
  decode: (r: unknown[]) => (r[0] === 'STARTED' ? { outcome: 'STARTED' as const, at: Number(r[1]) } : { outcome: 'REPLAYED' as const }),
  text: `${lua.now}\n${lua.stored}\n${lua.formatInteger}\nlocal record = KEYS[1]
local base, id, space, fingerprint, running, kept, keptMs, lowest, highest, statuses, cursor, freesMemory = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8], ARGV[9], ARGV[10], ARGV[11], ARGV[12]
local fields = { unpack(ARGV, 13) }
local known = redis.call('HGET', record, 'fingerprint')
if redis.call('EXISTS', record) == 1 then
  return { stored(known) == fingerprint and fingerprint ~= '' and 'REPLAYED' or 'IDEMPOTENCY_MISMATCH' }
end
local nowMs, nowText = now()
local list = base .. 'space:' .. space .. '/operations'
local others, busy = redis.call('ZRANGE', list, 0, -1), 0
for _, other in ipairs(others) do
  if redis.call('HGET', base .. 'operation:' .. other, 'status') == 'running' then busy = busy + 1 end
end
if busy >= tonumber(running) then return { 'TOO_MANY_OPERATIONS' } end
local tooMany = #others + 1 - tonumber(kept)
for _, other in ipairs(others) do
  local status = redis.call('HGET', base .. 'operation:' .. other, 'status')
  if tooMany > 0 and status ~= 'running' then
    tooMany = tooMany - 1
    redis.call('ZREM', list, other)
    redis.call('UNLINK', base .. 'operation:' .. other)
  end
end
if freesMemory ~= '' then redis.call('ZREM', list, id) end
local newest = tonumber(stored(redis.call('ZSCORE', base .. 'spaces', space)) or 0)
local last = math.min(newest, highest == '' and math.huge or tonumber(highest))
redis.call('HSET', record, 'space', space, 'status', 'running', 'startedAt', nowText, 'statuses', statuses, 'cursor', cursor,
  'lowest', lowest == '' and '-inf' or lowest, 'highest', formatInteger(last), unpack(fields))
if fingerprint ~= '' then redis.call('HSET', record, 'fingerprint', fingerprint) end
redis.call('PEXPIRE', record, keptMs)
redis.call('ZADD', list, nowText, id)
redis.call('PEXPIRE', list, keptMs)
redis.call('ZADD', base .. 'operations', nowText, id)
return { 'STARTED', nowText }
`,
} as const;

export const step_operation = {
  name: 'step_operation', sha1: '74d71f51e6d519cb92692366eedad68c71410535',
  keyCount: 1,
  parameters: ({ keys, args, rest }: { keys: { record: string }; args: { base: ScriptArgument; id: ScriptArgument; space: ScriptArgument; action: ScriptArgument; cursor: ScriptArgument; after: ScriptArgument; lowest: ScriptArgument; highest: ScriptArgument; most: ScriptArgument; mayChange: ScriptArgument; isDryRun: ScriptArgument; reason: ScriptArgument; delay: ScriptArgument; eventsPerJob: ScriptArgument; retentionMs: ScriptArgument; listed: ScriptArgument; tags: ScriptArgument; nameCount: ScriptArgument }; rest: readonly ScriptArgument[] }): ScriptArgument[] => [keys.record, args.base, args.id, args.space, args.action, args.cursor, args.after, args.lowest, args.highest, args.most, args.mayChange, args.isDryRun, args.reason, args.delay, args.eventsPerJob, args.retentionMs, args.listed, args.tags, args.nameCount, ...rest],
  decode: (r: unknown[]) => (r[0] === 'STEPPED' ? { outcome: 'STEPPED' as const, status: r[1] as string, changed: Number(r[2]), moves: r[3] as string[] } : { outcome: 'OVERTAKEN' as const }),
  text: `${lua.stored}\n${collected.clock}\n${collected.now}\n${lua.replaceEntry}\n${lua.nextJobs}\n${lua.loadJob}\n${lua.hasTags}\n${lua.matchingJob}\n${lua.countMove}\n${lua.OPERATION_ENDS}\n${collected.collected}\n${lua.quote}\n${lua.eventMessage}\n${collected.publishCollected}\n${lua.formatInteger}\n${lua.operationLeft}\n${lua.endOperation}\n${lua.recordStep}\n${lua.refusalFor}\nlocal record = KEYS[1]
local base, id, space, action, cursor, after, lowest, highest, most, mayChange, isDryRun, reason, delay, eventsPerJob, retentionMs, listed, tags, nameCount = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8], ARGV[9], ARGV[10], ARGV[11], ARGV[12], ARGV[13], ARGV[14], ARGV[15], ARGV[16], ARGV[17], ARGV[18]
local inputs = { unpack(ARGV, 19) }
local status, statuses, expected = unpack(redis.call('HMGET', record, 'status', 'statuses', 'cursor'))
if stored(status) ~= 'running' or expected ~= cursor then return { 'OVERTAKEN' } end
local act
if action == 'requeue' then
${lua.occupiesUnique}\n${lua.takesUniqueBack}\n${lua.uniqueEntry}\n${lua.uniqueHolder}\n${lua.timeOf}\n${lua.moveToStatusIndex}\n${lua.nextOrder}\n${lua.startLimit}\n${collected.wake}\n${lua.enqueue}\n${lua.queueScore}\n${lua.enterWaiting}\n${lua.returnToWaiting}\n${lua.isoText}\nlocal function appendEvent(job, at, type, data, eventsPerJob)
  local history = job.key .. ':events'
  local kept = (data == 'null' or type == 'completed') and '' or ',' .. data
  local entry = '["' .. type .. '",' .. at .. kept .. ']'
  local length = job.isNew and 0 or redis.call('RPUSHX', history, entry)
  local impliedSeq = type == 'delivered' and '2' or type == 'acked' and '3' or type == 'completed' and '4'
  if length == 0 and not impliedSeq then
${lua.impliedEntries}\n    local entries = impliedEntries(job.key, job.status)
    entries[#entries + 1] = entry
    length = redis.call('RPUSH', history, unpack(entries))
  end
  if length > 0 then
${lua.keepNewest}\n    return formatInteger(keepNewest(job, history, length, eventsPerJob))
  end
  return impliedSeq
end
${collected.publish}\n${lua.recordReturn}\n${lua.nextTakeBacks}\nlocal function requeueScript(jobKey, base, jobId, keySpaceId, delay, isDryRun, eventsPerJob)
local job, unique, freed, priority, startWithin, takeBacks =
  loadJob(jobKey, base, jobId, 'unique', 'uniqueFreed', 'priority', 'startWithinSeconds', 'takeBacks')
local refusal = refusalFor(job.status, job.space, keySpaceId)
if refusal then return { refusal } end
if job.status ~= 'dead' and job.status ~= 'killed' then return { 'JOB_NOT_DEAD', job.status } end
local nowMs, nowText = now()
local takesBack = stored(unique) and takesUniqueBack(job, unique, freed, nowMs)
local other, isOccupied
if takesBack then other, isOccupied = uniqueHolder(job, unique, nowMs) end
if other and other.id == jobId then other = nil end
if other and isOccupied then return { 'NOT_UNIQUE', other.id, other.status } end
if isDryRun ~= '' then return { 'OK', job.status, job.status } end
local before = job.status
redis.call('ZREM', base .. 'callbacks', jobId)
redis.call('HDEL', jobKey, 'attempt', 'result', 'error', 'deliveryTimeouts', 'startBy', 'killReason', 'kept',
  'callbackAttempts', 'callbackRound', 'callbackDueAt', 'callbackLeasedUntil')
job.attempt = '0'
local scheduledFor = timeOf(delay, nowMs)
local status = returnToWaiting(job, nowMs, scheduledFor, nil, { priority, startWithin })
if takesBack then
${lua.occupyUnique}\n  redis.call('HDEL', jobKey, 'uniqueFreed')
  occupyUnique(job, unique, other)
end
local data = scheduledFor and '{"scheduledFor":' .. isoText(scheduledFor) .. '}' or 'null'
recordReturn(job, nowText, 'requeued', status, data, eventsPerJob, 'takeBacks', nextTakeBacks(takeBacks))
return { 'OK', before, status }
end
  function act(key, jobId) return requeueScript(key, base, jobId, space, delay, isDryRun, eventsPerJob) end
end
if action == 'kill' then
${lua.moveToStatusIndex}\n${lua.startRetention}\n${lua.retentionIn}\n${collected.knownSettings}\n${collected.settingsText}\n${lua.wantsCallback}\nlocal function appendEvent(job, at, type, data, eventsPerJob)
  local history = job.key .. ':events'
  local kept = (data == 'null' or type == 'completed') and '' or ',' .. data
  local entry = '["' .. type .. '",' .. at .. kept .. ']'
  local length = job.isNew and 0 or redis.call('RPUSHX', history, entry)
  local impliedSeq = type == 'delivered' and '2' or type == 'acked' and '3' or type == 'completed' and '4'
  if length == 0 and not impliedSeq then
${lua.impliedEntries}\n    local entries = impliedEntries(job.key, job.status)
    entries[#entries + 1] = entry
    length = redis.call('RPUSH', history, unpack(entries))
  end
  if length > 0 then
${lua.keepNewest}\n    return formatInteger(keepNewest(job, history, length, eventsPerJob))
  end
  return impliedSeq
end
${collected.publish}\n${lua.recordEvent}\nlocal function killScript(jobKey, base, jobId, keySpaceId, reason, eventsPerJob, retentionMs)
local job, unique, startBy, callbackUrl, callbackOn = loadJob(jobKey, base, jobId, 'unique', 'startBy', 'callbackUrl', 'callbackOn')
local refusal = refusalFor(job.status, job.space, keySpaceId)
if refusal then return { refusal } end
if job.status == 'killed' then return { 'OK', 'killed', job.space, job.name } end
if job.status == 'completed' or job.status == 'dead' then return { 'JOB_ENDED', job.status } end
local nowMs, nowText = now()
if job.status ~= 'running' then
${lua.dequeue}\n${lua.leaveWaiting}\n  leaveWaiting(job, startBy)
end
moveToStatusIndex(job, 'killed')
startRetention(job, nowMs, retentionIn(settingsText(base, job.space), 'killed', retentionMs))
if stored(unique) then
${lua.uniqueEntry}\n${lua.freeUnique}\n  freeUnique(job, unique, 'expired')
end
if wantsCallback('killed', callbackUrl, callbackOn) then
${lua.enqueueCallback}\n  redis.call('HSET', jobKey, 'killReason', reason)
  enqueueCallback(job, nowMs)
end
recordEvent(job, nowText, 'killed', 'killed', '{"reason":' .. reason .. '}', eventsPerJob)
return { 'OK', job.status, job.space, job.name }
end
  function act(key, jobId) return killScript(key, base, jobId, space, reason, eventsPerJob, retentionMs) end
end
if action == 'delete' then
${lua.uniqueEntry}\n${lua.freeUnique}\n${lua.tagIndex}\n${lua.leaveTags}\n${lua.purge}\nlocal function deleteJobScript(jobKey, base, jobId, keySpaceId)
local job, unique = loadJob(jobKey, base, jobId, 'unique')
local refusal = refusalFor(job.status, job.space, keySpaceId)
if refusal then return { refusal } end
if job.status ~= 'completed' and job.status ~= 'dead' and job.status ~= 'killed' then return { 'JOB_NOT_ENDED', job.status } end
redis.call('ZREM', base .. 'callbacks', jobId)
purge(job, now(), unique)
return { 'OK', job.status }
end
  function act(key, jobId) return deleteJobScript(key, base, jobId, space) end
end
if action == 'reschedule' then
${lua.dequeue}\n${lua.leaveWaiting}\n${lua.startLimit}\n${lua.timeOf}\n${lua.moveToStatusIndex}\n${lua.nextOrder}\n${collected.wake}\n${lua.enqueue}\n${lua.queueScore}\n${lua.enterWaiting}\n${lua.returnToWaiting}\n${lua.isoText}\nlocal function appendEvent(job, at, type, data, eventsPerJob)
  local history = job.key .. ':events'
  local kept = (data == 'null' or type == 'completed') and '' or ',' .. data
  local entry = '["' .. type .. '",' .. at .. kept .. ']'
  local length = job.isNew and 0 or redis.call('RPUSHX', history, entry)
  local impliedSeq = type == 'delivered' and '2' or type == 'acked' and '3' or type == 'completed' and '4'
  if length == 0 and not impliedSeq then
${lua.impliedEntries}\n    local entries = impliedEntries(job.key, job.status)
    entries[#entries + 1] = entry
    length = redis.call('RPUSH', history, unpack(entries))
  end
  if length > 0 then
${lua.keepNewest}\n    return formatInteger(keepNewest(job, history, length, eventsPerJob))
  end
  return impliedSeq
end
${collected.publish}\n${lua.recordEvent}\nlocal function rescheduleScript(jobKey, base, jobId, keySpaceId, delay, priority, eventsPerJob)
local job, priorityNow, startWithin, startBy = loadJob(jobKey, base, jobId, 'priority', 'startWithinSeconds', 'startBy')
local refusal = refusalFor(job.status, job.space, keySpaceId)
if refusal then return { refusal } end
if job.status ~= 'scheduled' and job.status ~= 'pending' then return { 'JOB_NOT_PENDING', job.status } end
local nowMs, nowText = now()
leaveWaiting(job, startBy)
if priority == '0' then
  redis.call('HDEL', jobKey, 'priority')
  priorityNow = nil
elseif priority ~= '' then
  redis.call('HSET', jobKey, 'priority', priority)
  priorityNow = priority
end
if startLimit(job, startBy) then
  redis.call('HDEL', jobKey, 'startBy')
  startBy = nil
end
local scheduledFor = timeOf(delay, nowMs)
local status = returnToWaiting(job, nowMs, scheduledFor, nil, { priorityNow, startWithin, startBy })
if not scheduledFor then redis.call('HDEL', jobKey, 'scheduledFor') end
local data = '{"scheduledFor":' .. (scheduledFor and isoText(scheduledFor) or 'null')
data = data .. (priority == '' and '}' or ',"priority":' .. priority .. '}')
recordEvent(job, nowText, 'rescheduled', status, data, eventsPerJob)
return { 'OK', job.status, status }
end
  function act(key, jobId) return rescheduleScript(key, base, jobId, space, delay, '', eventsPerJob) end
end
local _, nowText = now()
replaceEntry(base .. 'operations', id, nowText)
local filter = { space = space, lowest = lowest, highest = highest, tags = tags, names = {} }
for i = 1, tonumber(nameCount) do filter.names[inputs[i]] = true end
local page, at, order = {}, string.match(cursor, '^(%S+) (%S+)$')
for i = nameCount + 1, #inputs do page[#page + 1] = { inputs[i] } end
if most ~= '0' then page = nextJobs(base .. 'space:' .. space .. '/status/' .. at, order, lowest, highest, most) end
if most ~= '0' and #page == tonumber(most) then after = at .. ' ' .. page[#page][2] end
local examined, changed, skipped, moves = tonumber(listed), 0, 0, {}
for _, entry in ipairs(page) do
  if most ~= '0' then examined = examined + 1 end
  local key = base .. 'job:' .. entry[1]
  local job = matchingJob(key, base, entry[1], filter)
  if job then
    local ok, reply = true, { string.find(' ' .. statuses .. ' ', ' ' .. job.status .. ' ', 1, true) and 'OK' }
    if reply[1] and (isDryRun == '' or action == 'requeue') then ok, reply = pcall(act, key, entry[1]) end
    local isDone = ok and reply[1] == 'OK'
    if isDone then changed = changed + 1 else skipped = skipped + 1 end
    if isDone and isDryRun == '' then countMove(moves, job, OPERATION_ENDS[action] or reply[3]) end
  end
  if changed == tonumber(mayChange) and most ~= '0' then after = at .. ' ' .. entry[2] break end
end
publishCollected(base, space)
return { 'STEPPED', recordStep(base, id, nowText, after, { examined, changed, skipped }), changed, { unpack(moves) } }
`,
} as const;

export const count_jobs = {
  name: 'count_jobs', sha1: '8c82a20d60ea2f341f71b442db0030eb1861fc71',
  keyCount: 1,
  parameters: ({ keys, args }: { keys: { jobs: string }; args: { space: ScriptArgument } }): ScriptArgument[] => [keys.jobs, args.space],
  decode: (r: unknown[]) => ({ at: Number(r[1]), counts: (r[2] as unknown[]).map(Number) }),
  text: `${lua.STATUSES}\n${lua.formatInteger}\n${lua.now}\nlocal jobs = KEYS[1]
local space = ARGV[1]
local counts = {}
for i, status in ipairs(STATUSES) do counts[i] = redis.call('ZCARD', space .. 'status/' .. status) end
return { 'OK', formatInteger(now()), { unpack(counts) } }
`,
} as const;

export const pause = {
  name: 'pause', sha1: 'cc213688653ec33d69843cd32ef28f7bc19d2108',
  keyCount: 1,
  parameters: ({ keys, args, rest }: { keys: { paused: string }; args: { base: ScriptArgument; space: ScriptArgument; most: ScriptArgument }; rest: readonly ScriptArgument[] }): ScriptArgument[] => [keys.paused, args.base, args.space, args.most, ...rest],
  decode: (r: unknown[]) => (r[0] === 'OK' ? { outcome: 'OK' as const } : { outcome: 'TOO_MANY' as const }),
  text: `${lua.replaceEntry}\n${lua.formatInteger}\n${lua.now}\nlocal paused = KEYS[1]
local base, space, most = ARGV[1], ARGV[2], ARGV[3]
local names = { unpack(ARGV, 4) }
local fields, known = redis.call('HGETALL', paused), {}
local count = 0
for i = 1, #fields, 2 do
  known[fields[i]] = true
  if fields[i] ~= '' then count = count + 1 end
end
for _, name in ipairs(names) do
  if name ~= '' and not known[name] then count = count + 1 end
end
if count > tonumber(most) then return { 'TOO_MANY' } end
for _, name in ipairs(names) do
  redis.call('HDEL', paused, name)
  redis.call('HSET', paused, name, '1')
end
if count > 0 then replaceEntry(base .. 'pauses', space, formatInteger(now())) end
return { 'OK' }
`,
} as const;

export const resume = {
  name: 'resume', sha1: 'a1e7db19ec96da26a98025a1ff6a3ad1e064e4a4',
  keyCount: 1,
  parameters: ({ keys, args, rest }: { keys: { paused: string }; args: { base: ScriptArgument; space: ScriptArgument; limit: ScriptArgument }; rest: readonly ScriptArgument[] }): ScriptArgument[] => [keys.paused, args.base, args.space, args.limit, ...rest],
  decode: () => ({}),
  text: `local paused = KEYS[1]
local base, space, limit = ARGV[1], ARGV[2], ARGV[3]
local names = { unpack(ARGV, 4) }
local fields, isMeant = redis.call('HGETALL', paused), {}
for _, name in ipairs(names) do isMeant[name] = true end
local isAny = false
for i = 1, #fields, 2 do
  local name = fields[i]
  if fields[i + 1] == '1' and (#names == 0 or isMeant[name]) then
    isAny = true
    redis.call('HDEL', paused, name)
    if name ~= '' then redis.call('HSET', paused, name, '>-inf') end
  end
end
if isAny then
${lua.wakeAll}\n${lua.putBack}\n${lua.replaceEntry}\n${lua.formatInteger}\n${lua.now}\n  putBack(base, space, limit)
  if redis.call('EXISTS', paused) == 1 then replaceEntry(base .. 'pauses', space, formatInteger(now())) end
  wakeAll(base, space)
end
return { 'OK' }
`,
} as const;

export const tend_pauses = {
  name: 'tend_pauses', sha1: '0f9d7b5ed27043c57fbb84b88aa46d3103884e65',
  keyCount: 1,
  parameters: ({ keys, args }: { keys: { pauses: string }; args: { base: ScriptArgument; limit: ScriptArgument } }): ScriptArgument[] => [keys.pauses, args.base, args.limit],
  decode: (r: unknown[]) => ({ isMore: Number(r[1]) }),
  text: `${lua.now}\n${lua.formatInteger}\n${lua.stored}\n${lua.wakeAll}\n${lua.putBack}\n${lua.pausedNames}\nlocal pauses = KEYS[1]
local base, limit = ARGV[1], ARGV[2]
local nowMs = now()
local space = redis.call('ZRANGEBYSCORE', pauses, '-inf', formatInteger(nowMs), 'LIMIT', 0, 1)[1]
if not space then return { 'OK', 0 } end
redis.call('ZREM', pauses, space)
local function takeOut(prefix, names)
  local out, ids = {}, redis.call('ZRANGE', prefix .. 'queue', 0, limit - 1)
  for _, id in ipairs(ids) do
    local name = stored(redis.call('HGET', base .. 'job:' .. id, 'name'))
    if name and names[name] then out[#out + 1] = id end
  end
  if out[1] then redis.call('ZREM', prefix .. 'queue', unpack(out)) end
  return #out == tonumber(limit)
end
local prefix = base .. 'space:' .. space .. '/'
local isMore = putBack(base, space, limit)
local names = pausedNames(prefix)
if not isMore and names and not names[''] then isMore = takeOut(prefix, names) end
local fields, hasNames = redis.call('HKEYS', prefix .. 'paused'), false
for _, name in ipairs(fields) do hasNames = hasNames or name ~= '' end
if hasNames then redis.call('ZADD', pauses, formatInteger(isMore and nowMs or nowMs + 1000), space) end
return { 'OK', isMore and 1 or 0 }
`,
} as const;

export const set_settings = {
  name: 'set_settings', sha1: '0f1a3b8b3a1e261369086a2c3c35c20993e5bf43',
  keyCount: 1,
  parameters: ({ keys, args }: { keys: { settings: string }; args: { space: ScriptArgument; before: ScriptArgument; after: ScriptArgument } }): ScriptArgument[] => [keys.settings, args.space, args.before, args.after],
  decode: (r: unknown[]) => (r[0] === 'OK' ? { outcome: 'OK' as const } : { outcome: 'CHANGED' as const }),
  text: `${lua.stored}\nlocal settings = KEYS[1]
local space, before, after = ARGV[1], ARGV[2], ARGV[3]
if (stored(redis.call('HGET', settings, space)) or '') ~= before then return { 'CHANGED' } end
redis.call('HDEL', settings, space)
if after ~= '' then redis.call('HSET', settings, space, after) end
redis.call('HINCRBY', settings, '', 1)
return { 'OK' }
`,
} as const;

export const stats = {
  name: 'stats', sha1: '2c8a4b309114b581d5c8219e3810c93a79512f52',
  keyCount: 1,
  parameters: ({ keys, args, rest }: { keys: { names: string }; args: { base: ScriptArgument; space: ScriptArgument; limit: ScriptArgument }; rest: readonly ScriptArgument[] }): ScriptArgument[] => [keys.names, args.base, args.space, args.limit, ...rest],
  decode: (r: unknown[]) => ({ at: Number(r[1]), counts: (r[2] as unknown[]).map(Number), oldest: r[3] as string, known: Number(r[4]), rows: r[5] as string[], paused: r[6] as string[] }),
  text: `${lua.stored}\n${lua.formatInteger}\n${lua.claimOrder}\n${lua.STATUSES}\n${lua.now}\nlocal names = KEYS[1]
local base, space, limit = ARGV[1], ARGV[2], ARGV[3]
local requested = { unpack(ARGV, 4) }
local function waiting(queue)
  local pending = redis.call('ZCARD', queue)
  if pending == 0 then return 0, '', nil end
  local head = redis.call('ZRANGE', queue, 0, 0, 'WITHSCORES')
  local order = claimOrder(head[2], redis.call('HGET', base .. 'job:' .. head[1], 'priority'))
  return pending, order, { score = tonumber(head[2]), id = head[1] }
end
local counts = {}
for i, status in ipairs(STATUSES) do counts[i] = redis.call('ZCARD', space .. 'status/' .. status) end
counts[#STATUSES + 1] = redis.call('ZCARD', space .. 'jobs')
local _, oldest, next = waiting(space .. 'queue')
local paused = redis.call('HGETALL', space .. 'paused')
for i = 1, #paused, 2 do
  local _, first, at = waiting(space .. 'queue/' .. paused[i])
  local isBefore = at and (not next or at.score < next.score or (at.score == next.score and at.id < next.id))
  if isBefore then oldest, next = first, at end
end
local listed = {}
for i, name in ipairs(requested) do
  listed[2 * i - 1], listed[2 * i] = name, stored(redis.call('ZSCORE', names, name)) or '0'
end
if #requested == 0 and limit ~= '0' then listed = redis.call('ZREVRANGE', names, 0, tonumber(limit) - 1, 'WITHSCORES') end
local rows = {}
for i = 1, #listed, 2 do
  local pending, first = 0, ''
  if oldest ~= '' then pending, first = waiting(space .. 'queue/' .. listed[i]) end
  local n = #rows
  rows[n + 1], rows[n + 2], rows[n + 3], rows[n + 4] = listed[i], listed[i + 1], pending, first
end
return { 'OK', formatInteger(now()), { unpack(counts) }, oldest, redis.call('ZCARD', names), { unpack(rows) }, { unpack(paused) } }
`,
} as const;
