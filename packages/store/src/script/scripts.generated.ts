// Made by scripts/lua/module.mjs from the .lua files of packages/store/src. Do not edit: edit those, and build.
import type { Status } from '@yardmaster/protocol';

/** Shared Lua, by name. */
export const lua = {
  STATUSES: `local STATUSES = { 'scheduled', 'pending', 'delivered', 'running', 'completed', 'dead', 'killed' }`,
  IS_STATUS: `local IS_STATUS = { scheduled = true, pending = true, delivered = true, running = true, completed = true, dead = true, killed = true }`,
  STATUS_AFTER: `local STATUS_AFTER = { callback_sent = '', callback_failed = '', ready = 'pending', dead = 'dead dead dead dead dead dead', delivered = 'delivered delivered', acked = 'running', delivery_timeout = 'pending', progress = 'running', checkpoint = 'running', event = 'running', completed = 'completed', retried = 'pending scheduled pending scheduled', released = 'pending scheduled', killed = 'killed', replaced = 'pending scheduled', rescheduled = 'pending scheduled' }`,
  markDelivered: `local function markDelivered(job, nowMs, at, deliveryTimeoutMs, eventsPerJob)
  moveToStatusIndex(job, 'delivered')
  openWindow(job, nowMs, deliveryMs(job, deliveryTimeoutMs))
  recordEvent(job, at, 'delivered', 'delivered', 'null', eventsPerJob, 'deliveredAt', at)
end`,
  claimedJob: `local function claimedJob(job, payload, checkpoint, takeBacks)
  return { job.id, job.name, job.timeoutSeconds, job.maxRetries, job.attempt, job.order, payload, checkpoint, takeBacks }
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
  deliveryOf: `local function deliveryOf(job, token)
  local attempt, takeBacks = string.match(token, '^(%d+)%.(%d+)$')
  attempt, takeBacks = tonumber(attempt), tonumber(takeBacks)
  local v = redis.call('HMGET', job.key, 'takeBacks', 'deliveryTimeouts')
  local lastTakeBacks = tonumber(stored(v[1]) or 0)
  local diedAcked = job.status == 'dead' and not stored(v[2]) and tonumber(job.attempt) > 0
  local wasAcked = job.status == 'running' or job.status == 'completed' or diedAcked
  local lastAttempt = tonumber(job.attempt) - (wasAcked and 1 or 0)
  if takeBacks > lastTakeBacks or attempt > lastAttempt then return 'unknown' end
  if takeBacks < lastTakeBacks or attempt < lastAttempt then return 'over' end
  local waits = job.status == 'pending' or job.status == 'scheduled'
  if job.status == 'dead' then waits = not stored(redis.call('HGET', job.key, 'deliveredAt')) end
  return waits and 'unknown' or 'current'
end`,
  replyToToken: `local function replyToToken(job, token, doneIn)
  if job.status == 'killed' or job.status == 'pending' or job.status == 'scheduled' then return nil end
  if deliveryOf(job, token) ~= 'current' then return { 'DELIVERY_LOST', job.status } end
  if job.status == doneIn then return { 'UNCHANGED' } end
  if job.status == 'completed' or job.status == 'dead' then return { 'JOB_NOT_RUNNING', job.status } end
end`,
  replyToGivingUp: `local function replyToGivingUp(job, token)
  if job.status == 'killed' then return nil end
  local delivery = deliveryOf(job, token)
  if delivery == 'unknown' then return { 'DELIVERY_LOST', job.status } end
  if delivery == 'over' or job.status == 'dead' then return { 'UNCHANGED' } end
end`,
  makeDead: `local function makeDead(job, nowMs, errorJson, eventsPerJob, retentionMs, ...)
  moveToStatusIndex(job, 'dead')
  startRetention(job, nowMs, retentionMs)
  local v = redis.call('HMGET', job.key, 'callbackUrl', 'callbackOn', 'unique', 'startBy')
  if job.status ~= 'running' then leaveWaiting(job, v[4]) end
  if wantsCallback('dead', v[1], v[2]) then enqueueCallback(job, nowMs) end
  if stored(v[3]) then freeUnique(job, v[3], 'expired') end
  recordEvent(job, formatInteger(nowMs), 'dead', 'dead', '{"error":' .. errorJson .. '}', eventsPerJob, 'error', errorJson, ...)
  return 'dead'
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
  redis.call('PUBLISH', job.base .. 'owed', '1')
end`,
  wantsCallback: `local function wantsCallback(status, callbackUrl, callbackOn)
  return stored(callbackUrl) ~= nil and string.find(stored(callbackOn) or 'completed dead', status, 1, true) ~= nil
end`,
  remindOfCallback: `local function remindOfCallback(job, nowMs)
  redis.call('ZADD', job.base .. 'due', formatInteger(nowMs + 10000), job.id)
end`,
  renewCallback: `local function renewCallback(job, nowMs)
  local v = redis.call('HMGET', job.key, 'callbackUrl', 'callbackOn', 'callbackAttempts')
  if stored(v[3]) or not wantsCallback('killed', v[1], v[2]) then return end
  if not redis.call('ZSCORE', job.base .. 'callbacks', job.id) then enqueueCallback(job, nowMs) end
  remindOfCallback(job, nowMs)
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
  appendEvent: `local function appendEvent(job, at, type, data, eventsPerJob)
  local history = job.key .. ':events'
  local kept = (data == 'null' or type == 'completed') and '' or ',' .. data
  local entry = '["' .. type .. '",' .. at .. kept .. ']'
  local length = redis.call('RPUSHX', history, entry)
  if length == 0 then
    if type == 'delivered' then return '2' elseif type == 'acked' then return '3' elseif type == 'completed' then return '4' end
    local entries = impliedEntries(job.key, job.status)
    entries[#entries + 1] = entry
    length = redis.call('RPUSH', history, unpack(entries))
  end
  local excess = length - (tonumber(eventsPerJob) - 1)
  if excess > 0 then
    redis.call('LTRIM', history, excess, -1)
    redis.call('HSET', job.key, 'eventsDropped', formatInteger(job.eventsDropped + excess))
  end
  return formatInteger(1 + job.eventsDropped + length)
end`,
  recordEvent: `local function recordEvent(job, at, type, status, data, eventsPerJob, ...)
  local seq = appendEvent(job, at, type, data, eventsPerJob)
  redis.call('HSET', job.key, 'status', status, 'updatedAt', at, ...)
  publish(job, seq, type, status, at, data)
end`,
  recordReturn: `local function recordReturn(job, at, type, status, data, eventsPerJob, ...)
  local seq = appendEvent(job, at, type, data, eventsPerJob)
  redis.call('HSET', job.key, 'status', status, 'updatedAt', at, ...)
  redis.call('HDEL', job.key, 'deliveredAt', 'startedAt', 'runBy')
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
  local v = redis.call('HMGET', key, 'status', 'space', 'name', 'order', 'attempt', 'maxRetries', 'timeoutSeconds', 'eventsDropped', ...)
  local job = {
    key = key, base = base, id = id,
    status = stored(v[1]), space = v[2], name = v[3], order = v[4],
    attempt = stored(v[5]) or '0',
    maxRetries = stored(v[6]) or '3',
    timeoutSeconds = stored(v[7]) or '300',
    eventsDropped = tonumber(stored(v[8]) or 0),
  }
  return job, unpack(v, 9, 8 + select('#', ...))
end`,
  refusalFor: `local function refusalFor(status, space, keySpaceId)
  if not status then return 'JOB_NOT_FOUND' end
  if keySpaceId ~= '' and keySpaceId ~= space then return 'FORBIDDEN' end
end`,
  addJob: `local function addJob(job, nowMs, micros, fields, waits)
  local base, space, id = job.base, job.space, job.id
  local moment = nowMs * 1024 + math.floor(micros % 1000 * 1.024)
  local order = nextOrder(base, space, moment)
  local scheduledFor = timeOf(waits.delay, nowMs)
  local status = scheduledFor and 'scheduled' or 'pending'
  redis.call('HSET', job.key, 'status', status, 'space', space, 'name', job.name, 'order', order, unpack(fields))
  redis.call('ZADD', base .. 'space:' .. space .. '/jobs', order, id)
  redis.call('ZADD', base .. 'space:' .. space .. '/status/' .. status, order, id)
  redis.call('ZINCRBY', base .. 'space:' .. space .. '/names', '1', job.name)
  enterWaiting(job, nowMs, scheduledFor, order, waits.options)
  publish(job, '1', 'created', status, formatInteger(math.floor(order / 1024)), 'null')
  return order, scheduledFor
end`,
  replaceJob: `local function replaceJob(job, nowMs, eventsPerJob, fields, waits)
  local at, scheduledFor = formatInteger(nowMs), timeOf(waits.delay, nowMs)
  redis.call('HSET', job.key, 'updatedAt', at)
  local v = redis.call('HMGET', job.key, 'priority', 'startBy')
  local score = stored(redis.call('ZSCORE', job.base .. 'space:' .. job.space .. '/queue', job.id))
  local order = score and claimOrder(score, v[1])
  leaveWaiting(job, v[2])
  redis.call('HDEL', job.key, 'payload', 'maxRetries', 'timeoutSeconds', 'callbackUrl', 'callbackHeaders', 'callbackOn', 'checkpoint',
    'scheduledFor', 'retry', 'maxRunSeconds', 'runBy', 'startWithinSeconds', 'startBy', 'priority')
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
  quote: `local function quote(text)
  if not string.find(text, '[%c"\\\\]') then return '"' .. text .. '"' end
  return '"' .. string.gsub(text, '[%c"\\\\]', function(c) return string.format('\\\\u%04x', string.byte(c)) end) .. '"'
end`,
  publish: `local function publish(job, seq, type, status, at, data)
  local message = '{"seq":' .. seq .. ',"jobId":"' .. job.id .. '","jobName":' .. quote(job.name) .. ',"spaceId":"' .. job.space
    .. '","type":"' .. type .. '","status":"' .. status .. '","data":' .. data .. ',"at":' .. at .. '}'
  redis.call('PUBLISH', job.base .. 'stream:job:' .. job.id, message)
  redis.call('PUBLISH', job.base .. 'stream:space:' .. job.space, message)
end`,
  wake: `local function wake(job)
  redis.call('PUBLISH', job.base .. 'wake:' .. job.space, job.name)
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
  if job.status == 'killed' then redis.call('ZREM', job.base .. 'due', job.id) end
  redis.call('ZREM', space .. '/jobs', job.id)
  redis.call('ZREM', space .. '/status/' .. job.status, job.id)
  if tonumber(redis.call('ZINCRBY', space .. '/names', -1, job.name)) <= 0 then redis.call('ZREM', space .. '/names', job.name) end
  if stored(unique) then freeUnique(job, unique) end
  redis.call('UNLINK', job.key, job.key .. ':events', job.key .. ':logs')
  if redis.call('ZCARD', space .. '/jobs') == 0 then redis.call('ZREM', job.base .. 'spaces', job.space) end
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
};

export const begin_callback = {
  name: 'begin_callback', sha1: '10fbe33eab3ddf78f31858d960a71b9a939892aa',
  keys: ['jobKey'], args: ['base', 'jobId', 'series', 'leaseMs', 'longestWaitMs'], rest: null,
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
  name: 'record_callback', sha1: 'b874a095616a3b6a4510dd085d4349cafd78be6e',
  keys: ['jobKey'], args: ['base', 'jobId', 'series', 'lease', 'eventType', 'data', 'retryMs', 'againMs', 'eventsPerJob'], rest: null,
  decode: (r: unknown[]) => (r[0] === 'OK' ? { outcome: 'OK' as const } : { outcome: 'NOT_PENDING' as const }),
  text: `${lua.stored}\n${lua.loadJob}\n${lua.loadCallback}\n${lua.formatInteger}\n${lua.now}\n${lua.replaceEntry}\n${lua.postpone}\n${lua.impliedEntries}\n${lua.appendEvent}\n${lua.quote}\n${lua.publish}\nlocal jobKey = KEYS[1]
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
  name: 'redeliver_callback', sha1: '03cd9df95e893a7eae91ff3e4c9f54f77b2b94d4',
  keys: ['jobKey'], args: ['base', 'jobId', 'keySpaceId'], rest: null,
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
  name: 'relay_callbacks', sha1: '591f19f89e82835e4cad2d223be16bfb21adeabc',
  keys: ['callbacks'], args: ['base', 'limit', 'againMs', 'atMostMs'], rest: null,
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
  name: 'bring_back', sha1: '570cc2fc1d33e701f7ebc7e9062117a25d45d20f',
  keys: ['index'], args: ['base', 'afterOrder', 'limit', 'deliveryTimeoutMs'], rest: null,
  decode: (r: unknown[]) => ({ examined: Number(r[1]), lastOrder: r[2] as string, reopened: Number(r[3]) }),
  text: `${lua.now}\n${lua.stored}\n${lua.loadJob}\n${lua.executionMs}\n${lua.deliveryMs}\n${lua.windowMs}\n${lua.formatInteger}\n${lua.startRun}\n${lua.openWindow}\n${lua.reopenWindow}\nlocal index = KEYS[1]
local base, afterOrder, limit, deliveryTimeoutMs = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local nowMs = now()
local markedAt = tonumber(stored(redis.call('GET', base .. 'stepped')) or 0)
local function reopenIfAhead(id)
  local job, deliveredAt, maxRunSeconds, runBy = loadJob(base .. 'job:' .. id, base, id, 'deliveredAt', 'maxRunSeconds', 'runBy')
  if job.status ~= 'delivered' and job.status ~= 'running' then return 0 end
  local ms = windowMs(job, deliveryTimeoutMs)
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
  name: 'expire', sha1: '46ffd25681ecab4c3fe4418bf34f4c142e603206',
  keys: ['deadlines'], args: ['base', 'limit', 'maxDeliveries', 'eventsPerJob', 'retentionMs', 'deliveryTimeoutMs', 'dueBefore', 'random'], rest: null,
  decode: (r: unknown[]) => ({ examined: Number(r[1]), counts: (r[2] as unknown[]).map(Number), lagMs: Number(r[3]), broken: r[4] as string[] }),
  text: `${lua.now}\n${lua.stored}\n${lua.lastStep}\n${lua.loadJob}\n${lua.executionMs}\n${lua.deliveryMs}\n${lua.windowMs}\n${lua.formatInteger}\n${lua.startRun}\n${lua.openWindow}\n${lua.reopenWindow}\n${lua.reopenIfCutShort}\n${lua.startLimit}\n${lua.isStartCutShort}\n${lua.isStartOver}\n${lua.moveToStatusIndex}\n${lua.startRetention}\n${lua.dequeue}\n${lua.leaveWaiting}\n${lua.wantsCallback}\n${lua.enqueueCallback}\n${lua.uniqueEntry}\n${lua.freeUnique}\n${lua.impliedEntries}\n${lua.appendEvent}\n${lua.quote}\n${lua.publish}\n${lua.recordEvent}\n${lua.makeDead}\n${lua.failStart}\n${lua.nextOrder}\n${lua.wake}\n${lua.enqueue}\n${lua.queueScore}\n${lua.enterWaiting}\n${lua.returnToWaiting}\n${lua.recordReturn}\n${lua.nextTakeBacks}\n${lua.failDelivery}\n${lua.retryDelayMs}\n${lua.isoText}\n${lua.scheduledData}\n${lua.failAttempt}\n${lua.replaceEntry}\n${lua.purge}\n${lua.IS_STATUS}\n${lua.sweep}\nlocal deadlines = KEYS[1]
local base, limit, maxDeliveries, eventsPerJob, retentionMs, deliveryTimeoutMs, dueBefore, random = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8]
local nowMs = now()
local DELIVERED = { pending = 1, dead = 2 }
local FAILED = { pending = 3, scheduled = 4, dead = 5 }
local PURGED = { completed = 6, dead = 7, killed = 8 }
local REOPENED = 9
local counts, lagMs = { 0, 0, 0, 0, 0, 0, 0, 0, 0 }, nil
local steppedAt = lastStep(base, nowMs)
local function expireOne(id, due, n)
  local job, timeouts, takeBacks, deliveredAt, unique, startBy, startWithin, maxRunSeconds, runBy, retry, priority =
    loadJob(base .. 'job:' .. id, base, id, 'deliveryTimeouts', 'takeBacks', 'deliveredAt', 'unique', 'startBy',
      'startWithinSeconds', 'maxRunSeconds', 'runBy', 'retry', 'priority')
  if reopenIfCutShort(job, due, steppedAt, nowMs, deliveryTimeoutMs, { maxRunSeconds, runBy }) then return REOPENED end
  lagMs = lagMs or nowMs - due
  if job.status == 'delivered' then
    local ackWindowMs = math.max(due - (tonumber(stored(deliveredAt)) or due), 0)
    local delivery = { timeouts = timeouts, takeBacks = takeBacks, windowMs = ackWindowMs,
      startBy = startBy, startWithin = startWithin, priority = priority }
    return DELIVERED[failDelivery(job, delivery, nowMs, maxDeliveries, eventsPerJob, retentionMs)]
  elseif job.status == 'running' then
    local errorJson = '"Job timed out after ' .. job.timeoutSeconds .. ' seconds without a heartbeat"'
    if stored(runBy) and due >= tonumber(runBy) then errorJson = '"Job ran longer than ' .. maxRunSeconds .. ' seconds"' end
    local again = { retry = retry, priority = priority, random = (random + n * 0.6180339887498949) % 1 }
    return FAILED[failAttempt(job, nowMs, errorJson, eventsPerJob, retentionMs, again)]
  elseif PURGED[job.status or ''] then
    return purge(job, nowMs, unique) and PURGED[job.status]
  elseif job.status and not IS_STATUS[job.status] then
    error('unknown status')
  end
  redis.call('ZREM', deadlines, id)
end
local examined, broken = sweep(deadlines, math.min(nowMs, tonumber(dueBefore)), limit, nowMs, function(id, due, n)
  local count = expireOne(id, due, n)
  if count then counts[count] = counts[count] + 1 end
end)
return { 'OK', examined, { unpack(counts) }, lagMs or 0, { unpack(broken) } }
`,
} as const;

export const mark_step = {
  name: 'mark_step', sha1: '03d25b09b39bc5096b2b655a3a14e53ac63272a5',
  keys: ['stepped'], args: ['readAt'], rest: null,
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
  name: 'promote', sha1: '762a7823a43c6fcad8467a5b8405fd23b01f648b',
  keys: ['due'], args: ['base', 'limit', 'eventsPerJob', 'retentionMs', 'dueBefore'], rest: null,
  decode: (r: unknown[]) => ({ examined: Number(r[1]), counts: (r[2] as unknown[]).map(Number), lagMs: Number(r[3]), broken: r[4] as string[] }),
  text: `${lua.now}\n${lua.stored}\n${lua.lastStep}\n${lua.loadJob}\n${lua.wantsCallback}\n${lua.formatInteger}\n${lua.enqueueCallback}\n${lua.remindOfCallback}\n${lua.renewCallback}\n${lua.IS_STATUS}\n${lua.startLimit}\n${lua.isStartCutShort}\n${lua.moveToStatusIndex}\n${lua.startRetention}\n${lua.dequeue}\n${lua.leaveWaiting}\n${lua.uniqueEntry}\n${lua.freeUnique}\n${lua.impliedEntries}\n${lua.appendEvent}\n${lua.quote}\n${lua.publish}\n${lua.recordEvent}\n${lua.makeDead}\n${lua.failStart}\n${lua.wake}\n${lua.enqueue}\n${lua.queueScore}\n${lua.enterWaiting}\n${lua.nextOrder}\n${lua.replaceEntry}\n${lua.sweep}\nlocal due = KEYS[1]
local base, limit, eventsPerJob, retentionMs, dueBefore = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local nowMs, nowText = now()
local READY = 1
local DEAD = { scheduled = 2, pending = 3 }
local counts, lagMs = { 0, 0, 0 }, 0
local before = math.min(nowMs, tonumber(dueBefore))
local steppedAt = lastStep(base, nowMs)
local function promoteOne(id, n)
  local job, scheduledFor, priority, within, startBy = loadJob(base .. 'job:' .. id, base, id, 'scheduledFor', 'priority', 'startWithinSeconds', 'startBy')
  local status = job.status
  if status == 'killed' then return renewCallback(job, nowMs) end
  if status ~= 'scheduled' and status ~= 'pending' and status ~= 'delivered' then
    if status and not IS_STATUS[status] then error('unknown status') end
    return nil
  end
  local limit = startLimit(job, startBy)
  if limit and limit < before then
    if not isStartCutShort(limit, within, steppedAt) then
      if status == 'delivered' then return nil end
      failStart(job, nowMs, within, eventsPerJob, retentionMs)
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
return { 'OK', examined, { unpack(counts) }, lagMs, { unpack(broken) } }
`,
} as const;

export const ack = {
  name: 'ack', sha1: '0a1b71407e81897afa1980c7af016e5bca3e1342',
  keys: ['jobKey'], args: ['base', 'jobId', 'keySpaceId', 'deliveryToken', 'eventsPerJob'], rest: null,
  decode: (r: unknown[]) => (r[0] === 'OK' ? { outcome: 'OK' as const, attempt: Number(r[1]) } : { outcome: 'UNCHANGED' as const }),
  text: `${lua.stored}\n${lua.loadJob}\n${lua.refusalFor}\n${lua.now}\n${lua.formatInteger}\n${lua.moveToStatusIndex}\n${lua.openWindow}\n${lua.executionMs}\n${lua.impliedEntries}\n${lua.appendEvent}\n${lua.quote}\n${lua.publish}\n${lua.recordEvent}\nlocal jobKey = KEYS[1]
local base, jobId, keySpaceId, deliveryToken, eventsPerJob = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local job, deliveryTimeouts, unique, maxRunSeconds, startBy = loadJob(jobKey, base, jobId, 'deliveryTimeouts', 'unique', 'maxRunSeconds', 'startBy')
local refusal = refusalFor(job.status, job.space, keySpaceId)
if refusal then return { refusal } end
if deliveryToken ~= '' then
${lua.deliveryOf}\n${lua.replyToToken}\n  local reply = replyToToken(job, deliveryToken, 'running')
  if reply then return reply end
end
if job.status ~= 'delivered' then
${lua.missedWindow}\n  return { 'JOB_NOT_DELIVERED', job.status, missedWindow(job) }
end
local nowMs, nowText = now()
local attempt = formatInteger(job.attempt + 1)
moveToStatusIndex(job, 'running')
local runBy = nil
if stored(maxRunSeconds) then
${lua.startRun}\n  runBy = startRun(job, nowMs, maxRunSeconds)
end
openWindow(job, nowMs, executionMs(job), runBy)
if stored(startBy) then
  redis.call('ZREM', base .. 'due', jobId)
  redis.call('HSET', jobKey, 'startBy', '0')
end
if stored(unique) and string.find(unique, '^started ') then
${lua.uniqueEntry}\n${lua.freeUnique}\n  freeUnique(job, unique)
  redis.call('HSET', jobKey, 'uniqueFreed', '1')
end
if stored(deliveryTimeouts) then redis.call('HDEL', jobKey, 'deliveryTimeouts') end
recordEvent(job, nowText, 'acked', 'running', 'null', eventsPerJob, 'startedAt', nowText, 'attempt', attempt)
return { 'OK', attempt }
`,
} as const;

export const complete = {
  name: 'complete', sha1: 'c2fe1eb83a1adcd6078a3da3fe640af842b4a277',
  keys: ['jobKey'], args: ['base', 'jobId', 'keySpaceId', 'deliveryToken', 'result', 'eventsPerJob', 'retentionMs'], rest: null,
  decode: (r: unknown[]) => (r[0] === 'OK' ? { outcome: 'OK' as const, attempt: Number(r[1]) } : { outcome: 'UNCHANGED' as const }),
  text: `${lua.stored}\n${lua.loadJob}\n${lua.refusalFor}\n${lua.now}\n${lua.moveToStatusIndex}\n${lua.formatInteger}\n${lua.startRetention}\n${lua.impliedEntries}\n${lua.appendEvent}\n${lua.quote}\n${lua.publish}\n${lua.recordEvent}\nlocal jobKey = KEYS[1]
local base, jobId, keySpaceId, deliveryToken, result, eventsPerJob, retentionMs = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7]
local job, callbackUrl, callbackOn, unique = loadJob(jobKey, base, jobId, 'callbackUrl', 'callbackOn', 'unique')
local refusal = refusalFor(job.status, job.space, keySpaceId)
if refusal then return { refusal } end
if deliveryToken ~= '' then
${lua.deliveryOf}\n${lua.replyToToken}\n  local reply = replyToToken(job, deliveryToken, 'completed')
  if reply then return reply end
end
if job.status ~= 'running' then return { 'JOB_NOT_RUNNING', job.status } end
local nowMs, nowText = now()
moveToStatusIndex(job, 'completed')
if stored(unique) then
${lua.uniqueEntry}\n${lua.freeUnique}\n  freeUnique(job, unique, 'expired')
end
startRetention(job, nowMs, retentionMs)
if stored(callbackUrl) then
${lua.wantsCallback}\n${lua.enqueueCallback}\n  if wantsCallback('completed', callbackUrl, callbackOn) then enqueueCallback(job, nowMs) end
end
recordEvent(job, nowText, 'completed', 'completed', result, eventsPerJob, 'result', result)
return { 'OK', job.attempt }
`,
} as const;

export const fail = {
  name: 'fail', sha1: '7953298a3c62eca27eb9dd998a77e41ffbfce24d',
  keys: ['jobKey'], args: ['base', 'jobId', 'keySpaceId', 'deliveryToken', 'errorJson', 'isRetryable', 'retryAfterMs', 'random', 'eventsPerJob', 'retentionMs'], rest: null,
  decode: (r: unknown[]) => (r[0] === 'OK' ? { outcome: 'OK' as const, status: r[1] as Status, attempt: Number(r[2]) } : { outcome: 'UNCHANGED' as const }),
  text: `${lua.stored}\n${lua.loadJob}\n${lua.refusalFor}\n${lua.now}\n${lua.moveToStatusIndex}\n${lua.formatInteger}\n${lua.startRetention}\n${lua.dequeue}\n${lua.leaveWaiting}\n${lua.wantsCallback}\n${lua.enqueueCallback}\n${lua.uniqueEntry}\n${lua.freeUnique}\n${lua.impliedEntries}\n${lua.appendEvent}\n${lua.quote}\n${lua.publish}\n${lua.recordEvent}\n${lua.makeDead}\n${lua.retryDelayMs}\n${lua.nextOrder}\n${lua.startLimit}\n${lua.wake}\n${lua.enqueue}\n${lua.queueScore}\n${lua.enterWaiting}\n${lua.returnToWaiting}\n${lua.isoText}\n${lua.scheduledData}\n${lua.recordReturn}\n${lua.failAttempt}\nlocal jobKey = KEYS[1]
local base, jobId, keySpaceId, deliveryToken, errorJson, isRetryable, retryAfterMs, random, eventsPerJob, retentionMs = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8], ARGV[9], ARGV[10]
local job, retry, priority = loadJob(jobKey, base, jobId, 'retry', 'priority')
local refusal = refusalFor(job.status, job.space, keySpaceId)
if refusal then return { refusal } end
if deliveryToken ~= '' then
${lua.deliveryOf}\n${lua.replyToGivingUp}\n  local reply = replyToGivingUp(job, deliveryToken)
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
return { 'OK', status, job.attempt }
`,
} as const;

export const heartbeat = {
  name: 'heartbeat', sha1: '40131adc79dce4434a135aa282921a966d042532',
  keys: ['jobKey'], args: ['base', 'jobId', 'keySpaceId', 'deliveryToken', 'kind', 'data', 'eventsPerJob'], rest: null,
  decode: (r: unknown[]) => ({ attempt: Number(r[1]) }),
  text: `${lua.stored}\n${lua.loadJob}\n${lua.refusalFor}\n${lua.now}\n${lua.formatInteger}\n${lua.openWindow}\n${lua.reopenWindow}\n${lua.executionMs}\n${lua.impliedEntries}\n${lua.appendEvent}\n${lua.quote}\n${lua.publish}\n${lua.recordEvent}\nlocal jobKey = KEYS[1]
local base, jobId, keySpaceId, deliveryToken, kind, data, eventsPerJob = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7]
local job, runBy = loadJob(jobKey, base, jobId, 'runBy')
local refusal = refusalFor(job.status, job.space, keySpaceId)
if refusal then return { refusal } end
if job.status == 'killed' then return { 'JOB_KILLED', 'killed' } end
if deliveryToken ~= '' then
${lua.deliveryOf}\n${lua.replyToToken}\n  local refused = replyToToken(job, deliveryToken)
  if refused then return refused end
end
if job.status ~= 'running' then return { 'JOB_NOT_RUNNING', job.status } end
local nowMs, nowText = now()
local reply = redis.pcall('HSET', jobKey, 'updatedAt', nowText)
local isFull = type(reply) == 'table' and reply.err ~= nil
reopenWindow(job, nowMs, executionMs(job), runBy)
if kind == 'keepalive' then return { 'OK', job.attempt } end
if isFull then return { 'STORAGE_FULL' } end
if kind == 'progress' then
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
  name: 'release', sha1: '81237229abd019c9dd919bc71dfae5e33786c491',
  keys: ['jobKey'], args: ['base', 'jobId', 'keySpaceId', 'deliveryToken', 'reason', 'delay', 'eventsPerJob', 'retentionMs'], rest: null,
  decode: (r: unknown[]) => (r[0] === 'OK' ? { outcome: 'OK' as const, before: r[1] as Status, after: r[2] as Status, attempt: Number(r[3]) } : { outcome: 'UNCHANGED' as const }),
  text: `${lua.stored}\n${lua.loadJob}\n${lua.refusalFor}\n${lua.now}\n${lua.startLimit}\n${lua.isStartCutShort}\n${lua.lastStep}\n${lua.isStartOver}\n${lua.timeOf}\n${lua.moveToStatusIndex}\n${lua.formatInteger}\n${lua.nextOrder}\n${lua.wake}\n${lua.enqueue}\n${lua.queueScore}\n${lua.enterWaiting}\n${lua.returnToWaiting}\n${lua.impliedEntries}\n${lua.appendEvent}\n${lua.quote}\n${lua.publish}\n${lua.recordReturn}\n${lua.isoText}\n${lua.scheduledData}\n${lua.nextTakeBacks}\nlocal jobKey = KEYS[1]
local base, jobId, keySpaceId, deliveryToken, reason, delay, eventsPerJob, retentionMs = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8]
local job, takeBacks, priority, startWithin, startBy = loadJob(jobKey, base, jobId, 'takeBacks', 'priority', 'startWithinSeconds', 'startBy')
local refusal = refusalFor(job.status, job.space, keySpaceId)
if refusal then return { refusal } end
if deliveryToken ~= '' then
${lua.deliveryOf}\n${lua.replyToGivingUp}\n  local reply = replyToGivingUp(job, deliveryToken)
  if reply then return reply end
end
if job.status == 'killed' then return { 'JOB_KILLED', 'killed' } end
if job.status ~= 'delivered' and job.status ~= 'running' then return { 'JOB_NOT_RUNNING', job.status } end
local nowMs, nowText = now()
local attempts = tonumber(job.attempt) - (job.status == 'running' and 1 or 0)
if job.status == 'delivered' and isStartOver(job, startBy, startWithin, nowMs) then
${lua.startRetention}\n${lua.dequeue}\n${lua.leaveWaiting}\n${lua.wantsCallback}\n${lua.enqueueCallback}\n${lua.uniqueEntry}\n${lua.freeUnique}\n${lua.recordEvent}\n${lua.makeDead}\n${lua.failStart}\n  failStart(job, nowMs, startWithin, eventsPerJob, retentionMs)
  return { 'OK', job.status, 'dead', formatInteger(attempts + 1) }
end
local scheduledFor = timeOf(delay, nowMs)
local status = returnToWaiting(job, nowMs, scheduledFor, job.order, { priority, startWithin, startBy })
recordReturn(job, nowText, 'released', status, '{"reason":' .. reason .. scheduledData(scheduledFor), eventsPerJob,
  'attempt', formatInteger(attempts), 'takeBacks', nextTakeBacks(takeBacks))
return { 'OK', job.status, status, formatInteger(attempts + 1) }
`,
} as const;

export const claim = {
  name: 'claim', sha1: '9d5b8d76f49f40ad796f6aac587c717f85e19b97',
  keys: ['jobKey'], args: ['base', 'jobId', 'keySpaceId', 'deliveryTimeoutMs', 'eventsPerJob', 'notAfter'], rest: null,
  decode: (r: unknown[]) => (r[0] === 'OK' ? { outcome: 'OK' as const, job: r[1] as (string | null)[] } : { outcome: 'NOT_PENDING' as const, status: r[1] as Status }),
  text: `${lua.stored}\n${lua.loadJob}\n${lua.refusalFor}\n${lua.now}\n${lua.isTooLate}\n${lua.dequeue}\n${lua.moveToStatusIndex}\n${lua.formatInteger}\n${lua.openWindow}\n${lua.executionMs}\n${lua.deliveryMs}\n${lua.impliedEntries}\n${lua.appendEvent}\n${lua.quote}\n${lua.publish}\n${lua.recordEvent}\n${lua.markDelivered}\n${lua.claimedJob}\nlocal jobKey = KEYS[1]
local base, jobId, keySpaceId, deliveryTimeoutMs, eventsPerJob, notAfter = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local job, payload, checkpoint, takeBacks = loadJob(jobKey, base, jobId, 'payload', 'checkpoint', 'takeBacks')
local refusal = refusalFor(job.status, job.space, keySpaceId)
if refusal then return { refusal } end
if job.status ~= 'pending' then return { 'NOT_PENDING', job.status } end
local nowMs, nowText = now()
if isTooLate(nowMs, notAfter) then return { 'TOO_LATE' } end
dequeue(job)
markDelivered(job, nowMs, nowText, deliveryTimeoutMs, eventsPerJob)
return { 'OK', claimedJob(job, payload, checkpoint, takeBacks) }
`,
} as const;

export const create = {
  name: 'create', sha1: '8110e22cedfa10fd16f87b8b85fb394ba2ba1eb8',
  keys: ['jobKey'], args: ['base', 'jobId', 'space', 'name', 'notAfter'], rest: 'fields',
  decode: (r: unknown[]) => ({ order: r[1] as string }),
  text: `${lua.now}\n${lua.isTooLate}\n${lua.formatInteger}\n${lua.nextOrder}\n${lua.wake}\n${lua.enqueue}\n${lua.quote}\n${lua.publish}\nlocal jobKey = KEYS[1]
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
publish(created, '1', 'created', 'pending', formatInteger(math.floor(order / 1024)), 'null')
return { 'OK', order }
`,
} as const;

export const create_full = {
  name: 'create_full', sha1: 'bae31c5041297fd78385036e3cbe1dd9dc95b749',
  keys: ['jobKey'], args: ['base', 'jobId', 'space', 'name', 'notAfter', 'fingerprint', 'unique', 'eventsPerJob', 'replayed', 'shown', 'delay', 'priority', 'startWithin'], rest: 'fields',
  decode: (r: unknown[]) => (r[0] === 'CREATED' ? { outcome: 'CREATED' as const, order: r[1] as string, scheduledFor: r[2] as string } : r[0] === 'REPLAYED' ? { outcome: 'REPLAYED' as const, values: r[1] as (string | null)[] } : r[0] === 'RETURNED' ? { outcome: 'RETURNED' as const, id: r[1] as string, values: r[2] as (string | null)[] } : r[0] === 'REPLACED' ? { outcome: 'REPLACED' as const, id: r[1] as string, values: r[2] as (string | null)[], before: r[3] as Status } : { outcome: 'NOT_UNIQUE' as const, id: r[1] as string, status: r[2] as Status }),
  text: `${lua.now}\n${lua.isTooLate}\n${lua.uniqueEntry}\n${lua.stored}\n${lua.loadJob}\n${lua.occupiesUnique}\n${lua.uniqueHolder}\n${lua.formatInteger}\n${lua.nextOrder}\n${lua.timeOf}\n${lua.startLimit}\n${lua.wake}\n${lua.enqueue}\n${lua.queueScore}\n${lua.enterWaiting}\n${lua.quote}\n${lua.publish}\n${lua.addJob}\nlocal jobKey = KEYS[1]
local base, jobId, space, name, notAfter, fingerprint, unique, eventsPerJob, replayed, shown, delay, priority, startWithin = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8], ARGV[9], ARGV[10], ARGV[11], ARGV[12], ARGV[13]
local fields = { unpack(ARGV, 14) }
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
${lua.claimOrder}\n${lua.dequeue}\n${lua.leaveWaiting}\n${lua.moveToStatusIndex}\n${lua.returnToWaiting}\n${lua.isoText}\n${lua.impliedEntries}\n${lua.appendEvent}\n${lua.recordEvent}\n${lua.replaceJob}\n  local onConflict = string.match(unique, '^%l+ (%l+)')
  if onConflict == 'reject' then return { 'NOT_UNIQUE', other.id, other.status } end
  local isReplaced = onConflict == 'replace' and (other.status == 'pending' or other.status == 'scheduled')
  if not isReplaced then return { 'RETURNED', other.id, valuesOf(other.key, shown) } end
  replaceJob(other, nowMs, eventsPerJob, fields, waits)
  return { 'REPLACED', other.id, valuesOf(other.key, shown), other.status }
end
if fingerprint ~= '' then fields[#fields + 1], fields[#fields + 2] = 'fingerprint', fingerprint end
local order, scheduledFor = addJob(job, nowMs, micros, fields, waits)
if unique ~= '' then
  local index, field = uniqueEntry(job, unique)
  redis.call('HSET', index, field, jobId)
  if other then redis.call('HSET', other.key, 'uniqueFreed', '1') end
end
return { 'CREATED', order, scheduledFor and formatInteger(scheduledFor) or '' }
`,
} as const;

export const kill = {
  name: 'kill', sha1: 'bb9c559fc2224bcce3ef95f89cbaf05f2f1720fa',
  keys: ['jobKey'], args: ['base', 'jobId', 'keySpaceId', 'reason', 'eventsPerJob', 'retentionMs'], rest: null,
  decode: (r: unknown[]) => ({ before: r[1] as Status }),
  text: `${lua.stored}\n${lua.loadJob}\n${lua.refusalFor}\n${lua.now}\n${lua.moveToStatusIndex}\n${lua.formatInteger}\n${lua.startRetention}\n${lua.wantsCallback}\n${lua.impliedEntries}\n${lua.appendEvent}\n${lua.quote}\n${lua.publish}\n${lua.recordEvent}\nlocal jobKey = KEYS[1]
local base, jobId, keySpaceId, reason, eventsPerJob, retentionMs = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local job, unique, startBy, callbackUrl, callbackOn = loadJob(jobKey, base, jobId, 'unique', 'startBy', 'callbackUrl', 'callbackOn')
local refusal = refusalFor(job.status, job.space, keySpaceId)
if refusal then return { refusal } end
if job.status == 'killed' then return { 'OK', 'killed' } end
if job.status == 'completed' or job.status == 'dead' then return { 'JOB_ENDED', job.status } end
local nowMs, nowText = now()
if job.status ~= 'running' then
${lua.dequeue}\n${lua.leaveWaiting}\n  leaveWaiting(job, startBy)
end
moveToStatusIndex(job, 'killed')
startRetention(job, nowMs, retentionMs)
if stored(unique) then
${lua.uniqueEntry}\n${lua.freeUnique}\n  freeUnique(job, unique, 'expired')
end
if wantsCallback('killed', callbackUrl, callbackOn) then
${lua.enqueueCallback}\n${lua.remindOfCallback}\n  redis.call('HSET', jobKey, 'killReason', reason)
  enqueueCallback(job, nowMs)
  remindOfCallback(job, nowMs)
end
recordEvent(job, nowText, 'killed', 'killed', '{"reason":' .. reason .. '}', eventsPerJob)
return { 'OK', job.status }
`,
} as const;

export const poll = {
  name: 'poll', sha1: 'ee2d972e9ccd2eac388cd0ba3e9def81e70442c9',
  keys: ['queue'], args: ['base', 'count', 'deliveryTimeoutMs', 'eventsPerJob', 'notAfter'], rest: 'names',
  decode: (r: unknown[]) => ({ jobs: r.slice(1) as (string | null)[][] }),
  text: `${lua.now}\n${lua.isTooLate}\n${lua.oldestFirst}\n${lua.takeFirst}\n${lua.stored}\n${lua.loadJob}\n${lua.moveToStatusIndex}\n${lua.formatInteger}\n${lua.openWindow}\n${lua.executionMs}\n${lua.deliveryMs}\n${lua.impliedEntries}\n${lua.appendEvent}\n${lua.quote}\n${lua.publish}\n${lua.recordEvent}\n${lua.markDelivered}\n${lua.claimedJob}\nlocal queue = KEYS[1]
local base, count, deliveryTimeoutMs, eventsPerJob, notAfter = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local names = { unpack(ARGV, 6) }
local nowMs, nowText = now()
if isTooLate(nowMs, notAfter) then return { 'TOO_LATE' } end
local wanted = tonumber(count)
local queues = { #names == 0 and queue or nil }
for i, name in ipairs(names) do queues[i] = queue .. '/' .. name end
local takeOldest = #queues > 1 and oldestFirst(queues, math.ceil(wanted / #queues))
local claimed = {}
for _ = 1, wanted + 50 do
  if #claimed == wanted then break end
  local id
  if takeOldest then id = takeOldest() else id = takeFirst(queues[1]) end
  if not id then break end
  local job, payload, checkpoint, takeBacks = loadJob(base .. 'job:' .. id, base, id, 'payload', 'checkpoint', 'takeBacks')
  if job.status == 'pending' then
    redis.call('ZREM', #names == 0 and queue .. '/' .. job.name or queue, id)
    markDelivered(job, nowMs, nowText, deliveryTimeoutMs, eventsPerJob)
    claimed[#claimed + 1] = claimedJob(job, payload, checkpoint, takeBacks)
  end
end
return { 'OK', unpack(claimed) }
`,
} as const;

export const get = {
  name: 'get', sha1: '2f7ca0b71574af225c0fc291e8f854a8225cbc57',
  keys: ['jobKey'], args: ['keySpaceId', 'portion', 'budget'], rest: null,
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
  keys: ['jobKey'], args: ['fromSeq', 'portion'], rest: null,
  decode: (r: unknown[]) => ({ firstSeq: Number(r[1]), events: r[2] as string[] }),
  text: `local jobKey = KEYS[1]
local fromSeq, portion = ARGV[1], ARGV[2]
local dropped = tonumber(redis.call('HGET', jobKey, 'eventsDropped') or 0)
local first = math.max(0, tonumber(fromSeq) - 2 - dropped)
local events = redis.call('LRANGE', jobKey .. ':events', first, first + tonumber(portion) - 1)
return { 'OK', first + 2 + dropped, events }
`,
} as const;

export const list = {
  name: 'list', sha1: 'a63421b8b59743a8c0ad941fbfd810cce863c66b',
  keys: ['index'], args: ['base', 'offset', 'limit', 'budget'], rest: 'fields',
  decode: (r: unknown[]) => ({ examined: Number(r[1]), left: Number(r[2]), rows: r.slice(3) as (string | null)[][] }),
  text: `local index = KEYS[1]
local base, offset, limit, budget = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local fields = { unpack(ARGV, 5) }
local ids = redis.call('ZREVRANGE', index, offset, tonumber(offset) + tonumber(limit) - 1)
local rows, bytes, examined = {}, 0, 0
for _, id in ipairs(ids) do
  if bytes > tonumber(budget) then break end
  examined = examined + 1
  local values = redis.call('HMGET', base .. 'job:' .. id, unpack(fields))
  if type(values[1]) == 'string' then
    rows[#rows + 1] = { id, unpack(values, 1, #fields) }
    for i = 1, #fields do
      if type(values[i]) == 'string' then bytes = bytes + #values[i] end
    end
  end
end
return { 'OK', examined, #ids - examined, unpack(rows) }
`,
} as const;

export const since = {
  name: 'since', sha1: '9ec8afbb0ee1bf8691c7d9444dfa8a69273b4e08',
  keys: ['jobKey'], args: ['fromSeq', 'portion'], rest: null,
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
  name: 'snapshot', sha1: '4040ffceaf2bb512499f63fedea6a83d8074191a',
  keys: ['jobKey'], args: ['keySpaceId'], rest: null,
  decode: (r: unknown[]) => ({ seq: Number(r[1]), logSeq: Number(r[2]), at: Number(r[3]), status: r[4] as Status, space: r[5] as string, name: r[6] as string, updatedAt: r[7] === null ? null : Number(r[7]), progress: r[8] as (string | null) }),
  text: `${lua.refusalFor}\n${lua.stored}\n${lua.impliedEntries}\n${lua.formatInteger}\n${lua.now}\nlocal jobKey = KEYS[1]
local keySpaceId = ARGV[1]
local v = redis.call('HMGET', jobKey, 'eventsDropped', 'logsDropped', 'status', 'space', 'name', 'updatedAt', 'progress')
local refusal = refusalFor(stored(v[3]), v[4], keySpaceId)
if refusal then return { refusal } end
local length = redis.call('LLEN', jobKey .. ':events')
if length == 0 then length = #impliedEntries(jobKey, v[3]) end
local seq = 1 + tonumber(stored(v[1]) or 0) + length
local logSeq = tonumber(stored(v[2]) or 0) + redis.call('LLEN', jobKey .. ':logs')
return { 'OK', seq, logSeq, formatInteger(now()), v[3], v[4], v[5], v[6], v[7] }
`,
} as const;

export const reschedule = {
  name: 'reschedule', sha1: 'fa3f4a88ccbca658ad9acd0fa4e3d806f4ce7004',
  keys: ['jobKey'], args: ['base', 'jobId', 'keySpaceId', 'delay', 'priority', 'eventsPerJob'], rest: null,
  decode: (r: unknown[]) => ({ before: r[1] as Status, after: r[2] as Status }),
  text: `${lua.stored}\n${lua.loadJob}\n${lua.refusalFor}\n${lua.now}\n${lua.dequeue}\n${lua.leaveWaiting}\n${lua.startLimit}\n${lua.timeOf}\n${lua.moveToStatusIndex}\n${lua.formatInteger}\n${lua.nextOrder}\n${lua.wake}\n${lua.enqueue}\n${lua.queueScore}\n${lua.enterWaiting}\n${lua.returnToWaiting}\n${lua.isoText}\n${lua.impliedEntries}\n${lua.appendEvent}\n${lua.quote}\n${lua.publish}\n${lua.recordEvent}\nlocal jobKey = KEYS[1]
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
  name: 'append_logs', sha1: '1991f660f827a75dd5ef8d1aae474be90ffea4ef',
  keys: ['jobKey'], args: ['base', 'jobId', 'keySpaceId', 'logsPerJob'], rest: 'entries',
  decode: (r: unknown[]) => ({ lastSeq: Number(r[1]) }),
  text: `${lua.stored}\n${lua.loadJob}\n${lua.refusalFor}\n${lua.now}\n${lua.formatInteger}\n${lua.quote}\n${lua.publish}\nlocal jobKey = KEYS[1]
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
  keys: ['jobKey'], args: ['keySpaceId', 'direction', 'bound', 'most', 'budget'], rest: null,
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

export const count_jobs = {
  name: 'count_jobs', sha1: '8c82a20d60ea2f341f71b442db0030eb1861fc71',
  keys: ['jobs'], args: ['space'], rest: null,
  decode: (r: unknown[]) => ({ at: Number(r[1]), counts: (r[2] as unknown[]).map(Number) }),
  text: `${lua.STATUSES}\n${lua.formatInteger}\n${lua.now}\nlocal jobs = KEYS[1]
local space = ARGV[1]
local counts = {}
for i, status in ipairs(STATUSES) do counts[i] = redis.call('ZCARD', space .. 'status/' .. status) end
return { 'OK', formatInteger(now()), { unpack(counts) } }
`,
} as const;

export const stats = {
  name: 'stats', sha1: '0a9eedc3c57a932421cf531ca1d18e8c74c58054',
  keys: ['names'], args: ['base', 'space', 'limit'], rest: 'requested',
  decode: (r: unknown[]) => ({ at: Number(r[1]), counts: (r[2] as unknown[]).map(Number), oldest: r[3] as string, known: Number(r[4]), rows: r[5] as string[] }),
  text: `${lua.stored}\n${lua.formatInteger}\n${lua.claimOrder}\n${lua.STATUSES}\n${lua.now}\nlocal names = KEYS[1]
local base, space, limit = ARGV[1], ARGV[2], ARGV[3]
local requested = { unpack(ARGV, 4) }
local function waiting(queue)
  local pending = redis.call('ZCARD', queue)
  if pending == 0 then return 0, '' end
  local head = redis.call('ZRANGE', queue, 0, 0, 'WITHSCORES')
  return pending, claimOrder(head[2], redis.call('HGET', base .. 'job:' .. head[1], 'priority'))
end
local counts = {}
for i, status in ipairs(STATUSES) do counts[i] = redis.call('ZCARD', space .. 'status/' .. status) end
counts[#STATUSES + 1] = redis.call('ZCARD', space .. 'jobs')
local all, oldest = waiting(space .. 'queue')
local listed = {}
for i, name in ipairs(requested) do
  listed[2 * i - 1], listed[2 * i] = name, stored(redis.call('ZSCORE', names, name)) or '0'
end
if #requested == 0 then listed = redis.call('ZREVRANGE', names, 0, tonumber(limit) - 1, 'WITHSCORES') end
local rows = {}
for i = 1, #listed, 2 do
  local pending, first = 0, ''
  if all > 0 then pending, first = waiting(space .. 'queue/' .. listed[i]) end
  local n = #rows
  rows[n + 1], rows[n + 2], rows[n + 3], rows[n + 4] = listed[i], listed[i + 1], pending, first
end
return { 'OK', formatInteger(now()), { unpack(counts) }, oldest, redis.call('ZCARD', names), { unpack(rows) } }
`,
} as const;
