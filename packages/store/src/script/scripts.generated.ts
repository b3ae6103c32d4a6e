// Made by scripts/lua-module.mjs from the .lua files of packages/store/src. Do not edit: edit those, and build.
import type { Status } from '@yardmaster/protocol';

/** Shared Lua, by name. */
export const lua = {
  STATUSES: `local STATUSES = { 'pending', 'delivered', 'running', 'completed', 'dead', 'killed' }`,
  STATUS_AFTER: `local STATUS_AFTER = { callback_sent = '', callback_failed = '', delivered = 'delivered', acked = 'running', delivery_timeout = 'pending', dead = 'dead', progress = 'running', checkpoint = 'running', event = 'running', completed = 'completed', retried = 'pending', killed = 'killed' }`,
  DEFAULT_MAX_RETRIES: `local DEFAULT_MAX_RETRIES = '3'`,
  DEFAULT_TIMEOUT_SECONDS: `local DEFAULT_TIMEOUT_SECONDS = '300'`,
  DEFAULT_ATTEMPT: `local DEFAULT_ATTEMPT = '0'`,
  enqueueCallback: `local function enqueueCallback(job, nowMs)
  redis.call('ZADD', job.base .. 'callbacks', digits(nowMs), job.id)
  redis.call('PUBLISH', job.base .. 'owed', '1')
end`,
  loadCallback: `local function loadCallback(job)
  local hasEnded = job.status == 'completed' or job.status == 'dead'
  if not hasEnded or not redis.call('ZSCORE', job.base .. 'callbacks', job.id) then return nil end
  local v = redis.call('HMGET', job.key, 'callbackAttempts', 'callbackRound', 'callbackDueAt', 'callbackLeasedUntil')
  for i = 1, 4 do v[i] = tonumber(stored(v[i]) or 0) end
  return { attempts = v[1], series = v[2], due = v[3], leasedUntil = v[4] }
end`,
  postpone: `local function postpone(job, at)
  place(job.base .. 'callbacks', job.id, digits(at))
end`,
  deliver: `local function deliver(job, nowMs, at, deliveryTimeoutMs, eventsPerJob)
  moveStatus(job, 'delivered')
  openWindow(job, nowMs, deliveryTimeoutMs)
  record(job, at, 'delivered', 'delivered', 'null', eventsPerJob, 'deliveredAt', at)
end`,
  claimedJob: `local function claimedJob(job, payload, checkpoint)
  return { job.id, job.name, job.timeoutSeconds, job.maxRetries, job.attempt, job.order, payload, checkpoint }
end`,
  now: `local function now()
  local time = redis.call('TIME')
  local ms = math.floor(time[2] / 1000)
  return time[1] * 1000.0 + ms, time[1] .. string.format('%03d', ms), time[2]
end`,
  isTooLate: `local function isTooLate(nowMs, deadline)
  return deadline ~= '' and nowMs > tonumber(deadline)
end`,
  digits: `local function digits(number)
  if number < 1e8 or number > 2 ^ 53 then return string.format('%.0f', number) end
  local low = number % 1e8
  return string.format('%d%08d', (number - low) / 1e8, low)
end`,
  die: `local function die(job, nowMs, failure, eventsPerJob, retentionMs, ...)
  moveStatus(job, 'dead')
  retain(job, nowMs, retentionMs)
  if redis.call('HEXISTS', job.key, 'callbackUrl') == 1 then enqueueCallback(job, nowMs) end
  record(job, digits(nowMs), 'dead', 'dead', '{"error":' .. failure .. '}', eventsPerJob, 'error', failure, ...)
end`,
  returnToQueue: `local function returnToQueue(job, nowMs, order)
  moveStatus(job, 'pending')
  enqueue(job, order or nextOrder(job.base, job.space, nowMs * 1024))
  redis.call('ZREM', job.base .. 'deadlines', job.id)
end`,
  failAttempt: `local function failAttempt(job, nowMs, failure, eventsPerJob, retentionMs)
  if tonumber(job.attempt) > tonumber(job.maxRetries) then
    die(job, nowMs, failure, eventsPerJob, retentionMs)
    return 'dead'
  end
  returnToQueue(job, nowMs)
  local data = '{"error":' .. failure .. ',"attemptNumber":' .. job.attempt .. '}'
  recordReturn(job, digits(nowMs), 'retried', data, eventsPerJob)
  return 'pending'
end`,
  failDelivery: `local function failDelivery(job, timeouts, nowMs, maxDeliveries, eventsPerJob, retentionMs)
  local count = tonumber(stored(timeouts) or 0) + 1
  if count >= tonumber(maxDeliveries) then
    local failure = '"Job was delivered ' .. maxDeliveries .. ' times and never acknowledged"'
    die(job, nowMs, failure, eventsPerJob, retentionMs, 'deliveryTimeouts', digits(count))
    return 'dead'
  end
  returnToQueue(job, nowMs, job.order)
  recordReturn(job, digits(nowMs), 'delivery_timeout', 'null', eventsPerJob, 'deliveryTimeouts', digits(count))
  return 'pending'
end`,
  append: `local function append(job, at, type, data, eventsPerJob)
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
    redis.call('HSET', job.key, 'eventsDropped', digits(job.eventsDropped + excess))
  end
  return digits(1 + job.eventsDropped + length)
end`,
  record: `local function record(job, at, type, status, data, eventsPerJob, ...)
  local seq = append(job, at, type, data, eventsPerJob)
  redis.call('HSET', job.key, 'status', status, 'updatedAt', at, ...)
  publish(job, seq, type, status, at, data)
end`,
  recordReturn: `local function recordReturn(job, at, type, data, eventsPerJob, ...)
  local seq = append(job, at, type, data, eventsPerJob)
  redis.call('HSET', job.key, 'status', 'pending', 'updatedAt', at, ...)
  redis.call('HDEL', job.key, 'deliveredAt', 'startedAt')
  publish(job, seq, type, 'pending', at, data)
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
    attempt = stored(v[5]) or DEFAULT_ATTEMPT,
    maxRetries = stored(v[6]) or DEFAULT_MAX_RETRIES,
    timeoutSeconds = stored(v[7]) or DEFAULT_TIMEOUT_SECONDS,
    eventsDropped = tonumber(stored(v[8]) or 0),
  }
  return job, unpack(v, 9, 8 + select('#', ...))
end`,
  refusalFor: `local function refusalFor(status, space, keySpaceId)
  if not status then return 'JOB_NOT_FOUND' end
  if keySpaceId ~= '' and keySpaceId ~= space then return 'FORBIDDEN' end
end`,
  takeFirst: `local function takeFirst(queue)
  return redis.call('ZPOPMIN', queue)[1]
end`,
  takerOf: `local function takerOf(keys, portion)
  local function look(q)
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
    if look(q) then queues[#queues + 1] = q end
  end
  return function()
    if taken and not look(taken) then table.remove(queues, index) end
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
  place: `local function place(index, member, score)
  redis.call('ZREM', index, member)
  redis.call('ZADD', index, score, member)
end`,
  moveStatus: `local function moveStatus(job, to)
  local index = job.base .. 'space:' .. job.space .. '/status/'
  redis.call('ZREM', index .. job.status, job.id)
  redis.call('ZADD', index .. to, job.order, job.id)
end`,
  enqueue: `local function enqueue(job, order)
  local queue = job.base .. 'space:' .. job.space .. '/queue'
  redis.call('ZADD', queue, order, job.id)
  redis.call('ZADD', queue .. '/' .. job.name, order, job.id)
end`,
  dequeue: `local function dequeue(job)
  local queue = job.base .. 'space:' .. job.space .. '/queue'
  redis.call('ZREM', queue, job.id)
  redis.call('ZREM', queue .. '/' .. job.name, job.id)
end`,
  nextOrder: `local function nextOrder(base, space, moment)
  local spaces, order = base .. 'spaces', digits(moment)
  if redis.pcall('ZADD', spaces, 'CH', 'GT', order, space) == 1 then return order end
  local last = tonumber(redis.call('ZSCORE', spaces, space) or 0)
  order = digits(math.max(last + 1, moment))
  redis.call('ZADD', spaces, order, space)
  return order
end`,
  retain: `local function retain(job, nowMs, retentionMs)
  if tonumber(retentionMs) > 0 then
    redis.call('ZADD', job.base .. 'deadlines', digits(nowMs + tonumber(retentionMs)), job.id)
  else
    redis.call('ZREM', job.base .. 'deadlines', job.id)
  end
end`,
  purge: `local function purge(job, nowMs)
  local deadlines = job.base .. 'deadlines'
  if redis.call('ZSCORE', job.base .. 'callbacks', job.id) then
    place(deadlines, job.id, digits(nowMs + 60000))
    return false
  end
  local space = job.base .. 'space:' .. job.space
  redis.call('ZREM', deadlines, job.id)
  redis.call('ZREM', space .. '/jobs', job.id)
  redis.call('ZREM', space .. '/status/' .. job.status, job.id)
  if tonumber(redis.call('ZINCRBY', space .. '/names', -1, job.name)) <= 0 then redis.call('ZREM', space .. '/names', job.name) end
  redis.call('UNLINK', job.key, job.key .. ':events', job.key .. ':logs')
  if redis.call('ZCARD', space .. '/jobs') == 0 then redis.call('ZREM', job.base .. 'spaces', job.space) end
  return true
end`,
  executionMs: `local function executionMs(job)
  return math.ceil(tonumber(job.timeoutSeconds) * 1000)
end`,
  windowMs: `local function windowMs(job, deliveryTimeoutMs)
  return job.status == 'delivered' and tonumber(deliveryTimeoutMs) or executionMs(job)
end`,
  openWindow: `local function openWindow(job, nowMs, ms)
  redis.call('ZADD', job.base .. 'deadlines', digits(nowMs + ms), job.id)
end`,
  reopenWindow: `local function reopenWindow(job, nowMs, ms)
  place(job.base .. 'deadlines', job.id, digits(nowMs + ms))
end`,
  lastStep: `local function lastStep(base, nowMs)
  local at = tonumber(stored(redis.call('GET', base .. 'stepped')) or 0)
  return at <= nowMs and at or 0
end`,
  reopenIfCutShort: `local function reopenIfCutShort(job, due, steppedAt, nowMs, deliveryTimeoutMs)
  if steppedAt == 0 or (job.status ~= 'delivered' and job.status ~= 'running') then return false end
  local ms = windowMs(job, deliveryTimeoutMs)
  if due - ms >= steppedAt then return false end
  reopenWindow(job, nowMs, ms)
  return true
end`,
};

export const begin_callback = {
  name: 'begin_callback', sha1: '787624f487dae1225c281583f4bb85772b1eba5d',
  keys: ['job'], args: ['base', 'jobId', 'series', 'leaseMs', 'longestWaitMs'], rest: null,
  decode: (r: unknown[]) => (r[0] === 'OK' ? { outcome: 'OK' as const, nowMs: Number(r[1]), attempt: Number(r[2]), lease: r[3] as string, fields: r[4] as (string | null)[] } : r[0] === 'NOT_DUE' ? { outcome: 'NOT_DUE' as const, waitMs: Number(r[1]) } : { outcome: 'NOT_PENDING' as const }),
  text: `${lua.stored}\n${lua.DEFAULT_ATTEMPT}\n${lua.DEFAULT_MAX_RETRIES}\n${lua.DEFAULT_TIMEOUT_SECONDS}\n${lua.loadJob}\n${lua.loadCallback}\n${lua.now}\n${lua.place}\n${lua.digits}\n${lua.postpone}\nlocal job = KEYS[1]
local base, jobId, series, leaseMs, longestWaitMs = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local found = loadJob(job, base, jobId)
local callback = loadCallback(found)
if not callback or callback.series ~= tonumber(series) then return { 'NOT_PENDING' } end
local nowMs, at = now()
if callback.leasedUntil > nowMs then return { 'NOT_DUE', math.min(callback.leasedUntil - nowMs, tonumber(longestWaitMs)) } end
if callback.due > nowMs then return { 'NOT_DUE', callback.due - nowMs } end
local lease = nowMs + tonumber(leaseMs)
postpone(found, lease)
redis.call('HSET', job, 'callbackLeasedUntil', digits(lease))
local fields = redis.call('HMGET', job, 'space', 'name', 'status', 'attempt', 'callbackUrl', 'callbackHeaders', 'result', 'error', 'updatedAt')
return { 'OK', at, callback.attempts + 1, digits(lease), fields }
`,
} as const;

export const record_callback = {
  name: 'record_callback', sha1: 'ea2ac0603b2657ca6a1e2b3a456ee52665dc17ea',
  keys: ['job'], args: ['base', 'jobId', 'series', 'lease', 'eventType', 'data', 'retryMs', 'againMs', 'eventsPerJob'], rest: null,
  decode: (r: unknown[]) => (r[0] === 'OK' ? { outcome: 'OK' as const } : { outcome: 'NOT_PENDING' as const }),
  text: `${lua.stored}\n${lua.DEFAULT_ATTEMPT}\n${lua.DEFAULT_MAX_RETRIES}\n${lua.DEFAULT_TIMEOUT_SECONDS}\n${lua.loadJob}\n${lua.loadCallback}\n${lua.digits}\n${lua.now}\n${lua.place}\n${lua.postpone}\n${lua.enqueueCallback}\n${lua.impliedEntries}\n${lua.append}\n${lua.quote}\n${lua.publish}\nlocal job = KEYS[1]
local base, jobId, series, lease, eventType, data, retryMs, againMs, eventsPerJob = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8], ARGV[9]
local found = loadJob(job, base, jobId)
local callback = loadCallback(found)
if not callback or digits(callback.leasedUntil) ~= lease then return { 'NOT_PENDING' } end
local nowMs, at = now()
if callback.series ~= tonumber(series) then
  postpone(found, nowMs)
  enqueueCallback(found, nowMs)
elseif retryMs == '' then
  redis.call('ZREM', base .. 'callbacks', jobId)
  redis.call('HDEL', job, 'callbackDueAt')
else
  local due = nowMs + tonumber(retryMs)
  postpone(found, due + tonumber(againMs))
  redis.call('HSET', job, 'callbackDueAt', digits(due))
end
redis.call('HSET', job, 'callbackAttempts', digits(callback.attempts + 1))
redis.call('HDEL', job, 'callbackLeasedUntil')
local seq = append(found, at, eventType, data, eventsPerJob)
publish(found, seq, eventType, found.status, at, data)
return { 'OK' }
`,
} as const;

export const redeliver_callback = {
  name: 'redeliver_callback', sha1: '259f5e8607f9ad50a8304746933dce3c75cf4fe4',
  keys: ['job'], args: ['base', 'jobId', 'keySpaceId'], rest: null,
  decode: () => ({}),
  text: `${lua.stored}\n${lua.DEFAULT_ATTEMPT}\n${lua.DEFAULT_MAX_RETRIES}\n${lua.DEFAULT_TIMEOUT_SECONDS}\n${lua.loadJob}\n${lua.refusalFor}\n${lua.now}\n${lua.digits}\n${lua.enqueueCallback}\nlocal job = KEYS[1]
local base, jobId, keySpaceId = ARGV[1], ARGV[2], ARGV[3]
local found = loadJob(job, base, jobId)
local refusal = refusalFor(found.status, found.space, keySpaceId)
if refusal then return { refusal } end
local hasEnded = found.status == 'completed' or found.status == 'dead'
if not hasEnded and found.status ~= 'killed' then return { 'JOB_NOT_ENDED', found.status } end
local v = redis.call('HMGET', job, 'callbackUrl', 'callbackAttempts', 'callbackLeasedUntil')
if not hasEnded or not stored(v[1]) then return { 'NO_CALLBACK', found.status } end
local nowMs, at = now()
local isBeingMade = tonumber(stored(v[3]) or 0) > nowMs
local series = tonumber(stored(v[2]) or 0) + (isBeingMade and 1 or 0)
redis.call('HSET', job, 'callbackRound', digits(series), 'callbackDueAt', at)
if not isBeingMade then redis.call('HDEL', job, 'callbackLeasedUntil') end
enqueueCallback(found, nowMs)
return { 'OK' }
`,
} as const;

export const relay_callbacks = {
  name: 'relay_callbacks', sha1: '72bcce72b4017721ba8c30d975aac1c34742a824',
  keys: ['callbacks'], args: ['base', 'limit', 'againMs', 'atMostMs'], rest: null,
  decode: (r: unknown[]) => ({ looked: Number(r[1]), due: r[2] as string[] }),
  text: `${lua.now}\n${lua.stored}\n${lua.DEFAULT_ATTEMPT}\n${lua.DEFAULT_MAX_RETRIES}\n${lua.DEFAULT_TIMEOUT_SECONDS}\n${lua.loadJob}\n${lua.loadCallback}\n${lua.place}\n${lua.digits}\n${lua.postpone}\nlocal callbacks = KEYS[1]
local base, limit, againMs, atMostMs = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local nowMs, at = now()
local ids = redis.call('ZRANGEBYSCORE', callbacks, '-inf', at, 'LIMIT', 0, limit)
local due = {}
for _, id in ipairs(ids) do
  local found, url = loadJob(base .. 'job:' .. id, base, id, 'callbackUrl')
  local callback = loadCallback(found)
  if callback then
    local since = callback.due > 0 and callback.due or tonumber(redis.call('HGET', found.key, 'updatedAt'))
    local waitedMs = nowMs - since
    postpone(found, nowMs + math.min(math.max(waitedMs, tonumber(againMs)), tonumber(atMostMs)))
    for _, value in ipairs({ id, digits(callback.series), stored(url) or '', digits(waitedMs) }) do due[#due + 1] = value end
  else
    redis.call('ZREM', callbacks, id)
  end
end
return { 'OK', #ids, { unpack(due) } }
`,
} as const;

export const bring_back = {
  name: 'bring_back', sha1: 'ca706037861faece27c4568932765c4e3083e603',
  keys: ['index'], args: ['base', 'afterOrder', 'limit', 'deliveryTimeoutMs'], rest: null,
  decode: (r: unknown[]) => ({ looked: Number(r[1]), lastOrder: r[2] as string, reopened: Number(r[3]) }),
  text: `${lua.now}\n${lua.stored}\n${lua.DEFAULT_ATTEMPT}\n${lua.DEFAULT_MAX_RETRIES}\n${lua.DEFAULT_TIMEOUT_SECONDS}\n${lua.loadJob}\n${lua.executionMs}\n${lua.windowMs}\n${lua.place}\n${lua.digits}\n${lua.reopenWindow}\nlocal index = KEYS[1]
local base, afterOrder, limit, deliveryTimeoutMs = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local nowMs = now()
local function reopenIfAhead(id)
  local found, deliveredAt = loadJob(base .. 'job:' .. id, base, id, 'deliveredAt')
  if found.status ~= 'delivered' and found.status ~= 'running' then return 0 end
  local ms = windowMs(found, deliveryTimeoutMs)
  local due = tonumber(stored(redis.call('ZSCORE', base .. 'deadlines', id)) or 0)
  if due <= nowMs + ms then return 0 end
  if found.status == 'delivered' and tonumber(deliveredAt) <= nowMs then return 0 end
  reopenWindow(found, nowMs, ms)
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
  name: 'expire', sha1: 'b75ce15c21c01711caa00def6b6d2bd87c9e0ad0',
  keys: ['deadlines'], args: ['base', 'limit', 'maxDeliveries', 'eventsPerJob', 'retentionMs', 'deliveryTimeoutMs', 'dueBefore'], rest: null,
  decode: (r: unknown[]) => ({ looked: Number(r[1]), counts: (r[2] as unknown[]).map(Number), lagMs: Number(r[3]), broken: r[4] as string[] }),
  text: `${lua.now}\n${lua.stored}\n${lua.lastStep}\n${lua.DEFAULT_ATTEMPT}\n${lua.DEFAULT_MAX_RETRIES}\n${lua.DEFAULT_TIMEOUT_SECONDS}\n${lua.loadJob}\n${lua.executionMs}\n${lua.windowMs}\n${lua.place}\n${lua.digits}\n${lua.reopenWindow}\n${lua.reopenIfCutShort}\n${lua.moveStatus}\n${lua.retain}\n${lua.enqueueCallback}\n${lua.impliedEntries}\n${lua.append}\n${lua.quote}\n${lua.publish}\n${lua.record}\n${lua.die}\n${lua.enqueue}\n${lua.nextOrder}\n${lua.returnToQueue}\n${lua.recordReturn}\n${lua.failDelivery}\n${lua.failAttempt}\n${lua.purge}\nlocal deadlines = KEYS[1]
local base, limit, maxDeliveries, eventsPerJob, retentionMs, deliveryTimeoutMs, dueBefore = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7]
local nowMs = now()
local DELIVERED = { pending = 1, dead = 2 }
local FAILED = { pending = 3, dead = 4 }
local PURGED = { completed = 5, dead = 6, killed = 7 }
local REOPENED = 8
local steppedAt = lastStep(base, nowMs)
local function expireOne(id, due)
  local found, timeouts = loadJob(base .. 'job:' .. id, base, id, 'deliveryTimeouts')
  if reopenIfCutShort(found, due, steppedAt, nowMs, deliveryTimeoutMs) then return REOPENED end
  if found.status == 'delivered' then
    return DELIVERED[failDelivery(found, timeouts, nowMs, maxDeliveries, eventsPerJob, retentionMs)]
  elseif found.status == 'running' then
    local failure = '"Job timed out after ' .. found.timeoutSeconds .. ' seconds without a heartbeat"'
    return FAILED[failAttempt(found, nowMs, failure, eventsPerJob, retentionMs)]
  elseif found.status and found.status ~= 'pending' then
    return purge(found, nowMs) and PURGED[found.status]
  end
  redis.call('ZREM', deadlines, id)
end
local before = digits(math.min(nowMs, tonumber(dueBefore)))
local due = redis.call('ZRANGEBYSCORE', deadlines, '-inf', '(' .. before, 'WITHSCORES', 'LIMIT', 0, limit)
local counts, broken, lagMs = { 0, 0, 0, 0, 0, 0, 0, 0 }, {}, nil
for i = 1, #due, 2 do
  local ok, count = pcall(expireOne, due[i], tonumber(due[i + 1]))
  if count ~= REOPENED then lagMs = lagMs or nowMs - tonumber(due[i + 1]) end
  if ok and count then
    counts[count] = counts[count] + 1
  elseif not ok then
    place(deadlines, due[i], digits(nowMs + 60000))
    broken[#broken + 1] = due[i]
  end
end
return { 'OK', #due / 2, { unpack(counts) }, lagMs or 0, { unpack(broken) } }
`,
} as const;

export const mark_step = {
  name: 'mark_step', sha1: 'cbfe515d8a030588891815012e6ba5e2c532fbe6',
  keys: ['stepped'], args: ['lookedAt'], rest: null,
  decode: (r: unknown[]) => ({ marked: Number(r[1]) }),
  text: `${lua.now}\n${lua.stored}\nlocal stepped = KEYS[1]
local lookedAt = ARGV[1]
local nowMs, at = now()
local known = tonumber(stored(redis.call('GET', stepped)) or 0)
if known > tonumber(lookedAt) and known <= nowMs then return { 'OK', 0 } end
redis.call('DEL', stepped)
redis.call('SET', stepped, at)
return { 'OK', 1 }
`,
} as const;

export const ack = {
  name: 'ack', sha1: '36b25ec485fd8eb8a130b76b7b972c1a8255acef',
  keys: ['job'], args: ['base', 'jobId', 'keySpaceId', 'eventsPerJob'], rest: null,
  decode: () => ({}),
  text: `${lua.stored}\n${lua.DEFAULT_ATTEMPT}\n${lua.DEFAULT_MAX_RETRIES}\n${lua.DEFAULT_TIMEOUT_SECONDS}\n${lua.loadJob}\n${lua.refusalFor}\n${lua.now}\n${lua.moveStatus}\n${lua.digits}\n${lua.openWindow}\n${lua.executionMs}\n${lua.impliedEntries}\n${lua.append}\n${lua.quote}\n${lua.publish}\n${lua.record}\nlocal job = KEYS[1]
local base, jobId, keySpaceId, eventsPerJob = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local found, deliveryTimeouts = loadJob(job, base, jobId, 'deliveryTimeouts')
local refusal = refusalFor(found.status, found.space, keySpaceId)
if refusal then return { refusal } end
if found.status ~= 'delivered' then return { 'JOB_NOT_DELIVERED', found.status } end
local nowMs, at = now()
moveStatus(found, 'running')
openWindow(found, nowMs, executionMs(found))
if stored(deliveryTimeouts) then redis.call('HDEL', job, 'deliveryTimeouts') end
record(found, at, 'acked', 'running', 'null', eventsPerJob, 'startedAt', at, 'attempt', digits(found.attempt + 1))
return { 'OK' }
`,
} as const;

export const claim = {
  name: 'claim', sha1: '592bb02cffd8cb4deb5e0c64b6562ecd4a293c47',
  keys: ['job'], args: ['base', 'jobId', 'keySpaceId', 'deliveryTimeoutMs', 'eventsPerJob', 'deadline'], rest: null,
  decode: (r: unknown[]) => (r[0] === 'OK' ? { outcome: 'OK' as const, job: r[1] as (string | null)[] } : { outcome: 'NOT_PENDING' as const, status: r[1] as Status }),
  text: `${lua.stored}\n${lua.DEFAULT_ATTEMPT}\n${lua.DEFAULT_MAX_RETRIES}\n${lua.DEFAULT_TIMEOUT_SECONDS}\n${lua.loadJob}\n${lua.refusalFor}\n${lua.now}\n${lua.isTooLate}\n${lua.dequeue}\n${lua.moveStatus}\n${lua.digits}\n${lua.openWindow}\n${lua.impliedEntries}\n${lua.append}\n${lua.quote}\n${lua.publish}\n${lua.record}\n${lua.deliver}\n${lua.claimedJob}\nlocal job = KEYS[1]
local base, jobId, keySpaceId, deliveryTimeoutMs, eventsPerJob, deadline = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local found, payload, checkpoint = loadJob(job, base, jobId, 'payload', 'checkpoint')
local refusal = refusalFor(found.status, found.space, keySpaceId)
if refusal then return { refusal } end
if found.status ~= 'pending' then return { 'NOT_PENDING', found.status } end
local nowMs, at = now()
if isTooLate(nowMs, deadline) then return { 'TOO_LATE' } end
dequeue(found)
deliver(found, nowMs, at, deliveryTimeoutMs, eventsPerJob)
return { 'OK', claimedJob(found, payload, checkpoint) }
`,
} as const;

export const complete = {
  name: 'complete', sha1: 'e8dda5ccd6950efabfc769a8fab787993e6fb89a',
  keys: ['job'], args: ['base', 'jobId', 'keySpaceId', 'result', 'eventsPerJob', 'retentionMs'], rest: null,
  decode: () => ({}),
  text: `${lua.stored}\n${lua.DEFAULT_ATTEMPT}\n${lua.DEFAULT_MAX_RETRIES}\n${lua.DEFAULT_TIMEOUT_SECONDS}\n${lua.loadJob}\n${lua.refusalFor}\n${lua.now}\n${lua.moveStatus}\n${lua.digits}\n${lua.retain}\n${lua.enqueueCallback}\n${lua.impliedEntries}\n${lua.append}\n${lua.quote}\n${lua.publish}\n${lua.record}\nlocal job = KEYS[1]
local base, jobId, keySpaceId, result, eventsPerJob, retentionMs = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local found, callbackUrl = loadJob(job, base, jobId, 'callbackUrl')
local refusal = refusalFor(found.status, found.space, keySpaceId)
if refusal then return { refusal } end
if found.status ~= 'running' then return { 'JOB_NOT_RUNNING', found.status } end
local nowMs, at = now()
moveStatus(found, 'completed')
retain(found, nowMs, retentionMs)
if stored(callbackUrl) then enqueueCallback(found, nowMs) end
record(found, at, 'completed', 'completed', result, eventsPerJob, 'result', result)
return { 'OK' }
`,
} as const;

export const create = {
  name: 'create', sha1: '09fdb1d81a78220074e013d9a5a27ef78ca18595',
  keys: ['job'], args: ['base', 'jobId', 'space', 'name', 'deadline'], rest: 'fields',
  decode: (r: unknown[]) => ({ order: r[1] as string }),
  text: `${lua.now}\n${lua.isTooLate}\n${lua.digits}\n${lua.nextOrder}\n${lua.enqueue}\n${lua.quote}\n${lua.publish}\nlocal job = KEYS[1]
local base, jobId, space, name, deadline = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local fields = { unpack(ARGV, 6) }
local nowMs, _, micros = now()
if isTooLate(nowMs, deadline) then return { 'TOO_LATE' } end
local moment = nowMs * 1024 + math.floor(micros % 1000 * 1.024)
local order = nextOrder(base, space, moment)
local created = { key = job, base = base, id = jobId, space = space, name = name }
redis.call('HSET', job, 'status', 'pending', 'space', space, 'name', name, 'order', order, unpack(fields))
redis.call('ZADD', base .. 'space:' .. space .. '/jobs', order, jobId)
redis.call('ZADD', base .. 'space:' .. space .. '/status/pending', order, jobId)
redis.call('ZINCRBY', base .. 'space:' .. space .. '/names', '1', name)
enqueue(created, order)
publish(created, '1', 'created', 'pending', digits(math.floor(order / 1024)), 'null')
return { 'OK', order }
`,
} as const;

export const fail = {
  name: 'fail', sha1: '32d5eb3c8696b57fecf09aada2cd8cc8ff8e8304',
  keys: ['job'], args: ['base', 'jobId', 'keySpaceId', 'failure', 'eventsPerJob', 'retentionMs'], rest: null,
  decode: (r: unknown[]) => ({ status: r[1] as Status }),
  text: `${lua.stored}\n${lua.DEFAULT_ATTEMPT}\n${lua.DEFAULT_MAX_RETRIES}\n${lua.DEFAULT_TIMEOUT_SECONDS}\n${lua.loadJob}\n${lua.refusalFor}\n${lua.moveStatus}\n${lua.digits}\n${lua.retain}\n${lua.enqueueCallback}\n${lua.impliedEntries}\n${lua.append}\n${lua.quote}\n${lua.publish}\n${lua.record}\n${lua.die}\n${lua.enqueue}\n${lua.nextOrder}\n${lua.returnToQueue}\n${lua.recordReturn}\n${lua.failAttempt}\n${lua.now}\nlocal job = KEYS[1]
local base, jobId, keySpaceId, failure, eventsPerJob, retentionMs = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local found = loadJob(job, base, jobId)
local refusal = refusalFor(found.status, found.space, keySpaceId)
if refusal then return { refusal } end
if found.status ~= 'running' then return { 'JOB_NOT_RUNNING', found.status } end
return { 'OK', failAttempt(found, now(), failure, eventsPerJob, retentionMs) }
`,
} as const;

export const heartbeat = {
  name: 'heartbeat', sha1: '9beb93366fb64387b2c678cbd251cffed7003104',
  keys: ['job'], args: ['base', 'jobId', 'keySpaceId', 'kind', 'data', 'eventsPerJob'], rest: null,
  decode: () => ({}),
  text: `${lua.stored}\n${lua.DEFAULT_ATTEMPT}\n${lua.DEFAULT_MAX_RETRIES}\n${lua.DEFAULT_TIMEOUT_SECONDS}\n${lua.loadJob}\n${lua.refusalFor}\n${lua.now}\n${lua.place}\n${lua.digits}\n${lua.reopenWindow}\n${lua.executionMs}\n${lua.impliedEntries}\n${lua.append}\n${lua.quote}\n${lua.publish}\n${lua.record}\nlocal job = KEYS[1]
local base, jobId, keySpaceId, kind, data, eventsPerJob = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local found = loadJob(job, base, jobId)
local refusal = refusalFor(found.status, found.space, keySpaceId)
if refusal then return { refusal } end
if found.status == 'killed' then return { 'JOB_KILLED', 'killed' } end
if found.status ~= 'running' then return { 'JOB_NOT_RUNNING', found.status } end
local nowMs, at = now()
local reply = redis.pcall('HSET', job, 'updatedAt', at)
local isFull = type(reply) == 'table' and reply.err ~= nil
reopenWindow(found, nowMs, executionMs(found))
if kind == 'keepalive' then return { 'OK' } end
if isFull then return { 'STORAGE_FULL' } end
if kind == 'progress' then
  record(found, at, kind, 'running', data, eventsPerJob, 'progress', data, 'progressAt', at)
elseif kind == 'checkpoint' then
  record(found, at, kind, 'running', data, eventsPerJob, 'checkpoint', data)
else
  record(found, at, kind, 'running', data, eventsPerJob)
end
return { 'OK' }
`,
} as const;

export const kill = {
  name: 'kill', sha1: '6983fcc26e45a326daa790e7b9bc1df8f47cea4a',
  keys: ['job'], args: ['base', 'jobId', 'keySpaceId', 'reason', 'eventsPerJob', 'retentionMs'], rest: null,
  decode: (r: unknown[]) => ({ before: r[1] as Status }),
  text: `${lua.stored}\n${lua.DEFAULT_ATTEMPT}\n${lua.DEFAULT_MAX_RETRIES}\n${lua.DEFAULT_TIMEOUT_SECONDS}\n${lua.loadJob}\n${lua.refusalFor}\n${lua.now}\n${lua.dequeue}\n${lua.moveStatus}\n${lua.digits}\n${lua.retain}\n${lua.impliedEntries}\n${lua.append}\n${lua.quote}\n${lua.publish}\n${lua.record}\nlocal job = KEYS[1]
local base, jobId, keySpaceId, reason, eventsPerJob, retentionMs = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local found = loadJob(job, base, jobId)
local refusal = refusalFor(found.status, found.space, keySpaceId)
if refusal then return { refusal } end
if found.status == 'killed' then return { 'OK', 'killed' } end
if found.status == 'completed' or found.status == 'dead' then return { 'JOB_ENDED', found.status } end
local nowMs, at = now()
if found.status == 'pending' then dequeue(found) end
moveStatus(found, 'killed')
retain(found, nowMs, retentionMs)
record(found, at, 'killed', 'killed', '{"reason":' .. reason .. '}', eventsPerJob)
return { 'OK', found.status }
`,
} as const;

export const poll = {
  name: 'poll', sha1: '26fe3ae7d3b38ad1d1e436f84b0e304778f7959c',
  keys: ['queue'], args: ['base', 'count', 'deliveryTimeoutMs', 'eventsPerJob', 'deadline'], rest: 'names',
  decode: (r: unknown[]) => ({ jobs: r.slice(1) as (string | null)[][] }),
  text: `${lua.now}\n${lua.isTooLate}\n${lua.takerOf}\n${lua.takeFirst}\n${lua.stored}\n${lua.DEFAULT_ATTEMPT}\n${lua.DEFAULT_MAX_RETRIES}\n${lua.DEFAULT_TIMEOUT_SECONDS}\n${lua.loadJob}\n${lua.moveStatus}\n${lua.digits}\n${lua.openWindow}\n${lua.impliedEntries}\n${lua.append}\n${lua.quote}\n${lua.publish}\n${lua.record}\n${lua.deliver}\n${lua.claimedJob}\nlocal queue = KEYS[1]
local base, count, deliveryTimeoutMs, eventsPerJob, deadline = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local names = { unpack(ARGV, 6) }
local nowMs, at = now()
if isTooLate(nowMs, deadline) then return { 'TOO_LATE' } end
local wanted = tonumber(count)
local queues = { #names == 0 and queue or nil }
for i, name in ipairs(names) do queues[i] = queue .. '/' .. name end
local takeOldest = #queues > 1 and takerOf(queues, math.ceil(wanted / #queues))
local claimed = {}
for _ = 1, wanted + 50 do
  if #claimed == wanted then break end
  local id
  if takeOldest then id = takeOldest() else id = takeFirst(queues[1]) end
  if not id then break end
  local found, payload, checkpoint = loadJob(base .. 'job:' .. id, base, id, 'payload', 'checkpoint')
  if found.status == 'pending' then
    redis.call('ZREM', #names == 0 and queue .. '/' .. found.name or queue, id)
    deliver(found, nowMs, at, deliveryTimeoutMs, eventsPerJob)
    claimed[#claimed + 1] = claimedJob(found, payload, checkpoint)
  end
end
return { 'OK', unpack(claimed) }
`,
} as const;

export const get = {
  name: 'get', sha1: '8adf01c7f44fa790b6303f4b5ba8dcb4defcdc99',
  keys: ['job'], args: ['keySpaceId', 'portion', 'budget'], rest: null,
  decode: (r: unknown[]) => (r[0] === 'OK' ? { outcome: 'OK' as const, record: r[1] as string[], events: r[2] as string[], length: Number(r[3]) } : { outcome: 'LARGE' as const }),
  text: `${lua.refusalFor}\n${lua.stored}\n${lua.impliedEntries}\nlocal job = KEYS[1]
local keySpaceId, portion, budget = ARGV[1], ARGV[2], ARGV[3]
local v = redis.call('HMGET', job, 'space', 'status')
local refusal = refusalFor(stored(v[2]), v[1], keySpaceId)
if refusal then return { refusal } end
local left = tonumber(budget)
for _, field in ipairs({ 'payload', 'result', 'progress', 'checkpoint', 'error', 'callbackHeaders' }) do
  left = left - redis.call('HSTRLEN', job, field)
end
local length = redis.call('LLEN', job .. ':events')
local events = {}
if length == 0 then
  events = impliedEntries(job, v[2])
  length = #events
end
for first = #events, math.min(length, tonumber(portion)) - 1, 20 do
  if left < 0 then break end
  local last = math.min(first + 20, tonumber(portion)) - 1
  for _, entry in ipairs(redis.call('LRANGE', job .. ':events', first, last)) do
    events[#events + 1] = entry
    left = left - #entry
  end
end
if left < 0 then return { 'LARGE' } end
return { 'OK', redis.call('HGETALL', job), { unpack(events) }, length }
`,
} as const;

export const history = {
  name: 'history', sha1: 'f50ae8fda54714d3aff96786c637eff614b46f96',
  keys: ['job'], args: ['fromSeq', 'portion'], rest: null,
  decode: (r: unknown[]) => ({ firstSeq: Number(r[1]), events: r[2] as string[] }),
  text: `local job = KEYS[1]
local fromSeq, portion = ARGV[1], ARGV[2]
local dropped = tonumber(redis.call('HGET', job, 'eventsDropped') or 0)
local first = math.max(0, tonumber(fromSeq) - 2 - dropped)
local events = redis.call('LRANGE', job .. ':events', first, first + tonumber(portion) - 1)
return { 'OK', first + 2 + dropped, events }
`,
} as const;

export const list = {
  name: 'list', sha1: '3a2e2fa9f56332d0814d3fcc5ace6ef3d87f6ec1',
  keys: ['index'], args: ['base', 'offset', 'limit', 'budget'], rest: 'fields',
  decode: (r: unknown[]) => ({ looked: Number(r[1]), left: Number(r[2]), rows: r.slice(3) as (string | null)[][] }),
  text: `local index = KEYS[1]
local base, offset, limit, budget = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local fields = { unpack(ARGV, 5) }
local ids = redis.call('ZREVRANGE', index, offset, tonumber(offset) + tonumber(limit) - 1)
local rows, bytes, looked = {}, 0, 0
for _, id in ipairs(ids) do
  if bytes > tonumber(budget) then break end
  looked = looked + 1
  local values = redis.call('HMGET', base .. 'job:' .. id, unpack(fields))
  if type(values[1]) == 'string' then
    rows[#rows + 1] = { id, unpack(values, 1, #fields) }
    for i = 1, #fields do
      if type(values[i]) == 'string' then bytes = bytes + #values[i] end
    end
  end
end
return { 'OK', looked, #ids - looked, unpack(rows) }
`,
} as const;

export const since = {
  name: 'since', sha1: '9066cc5e48b5f55affee423b4bad10b2a2fe09a8',
  keys: ['job'], args: ['fromSeq', 'portion'], rest: null,
  decode: (r: unknown[]) => ({ firstSeq: Number(r[1]), events: r[2] as string[], lastSeq: Number(r[3]), logSeq: Number(r[4]), newestLog: r[5] as (string | null), status: r[6] as Status, name: r[7] as string, space: r[8] as string, result: r[9] as (string | null) }),
  text: `${lua.stored}\n${lua.impliedEntries}\nlocal job = KEYS[1]
local fromSeq, portion = ARGV[1], ARGV[2]
local v = redis.call('HMGET', job, 'eventsDropped', 'logsDropped', 'status', 'name', 'space', 'result')
if not stored(v[3]) then return { 'JOB_NOT_FOUND' } end
local dropped = tonumber(stored(v[1]) or 0)
local history, logs = job .. ':events', job .. ':logs'
local first = math.max(0, tonumber(fromSeq) - 2 - dropped)
local events = redis.call('LRANGE', history, first, first + tonumber(portion) - 1)
local length = redis.call('LLEN', history)
if length == 0 then
  local implied = impliedEntries(job, v[3])
  length = #implied
  events = { unpack(implied, first + 1) }
end
local lastSeq = 1 + dropped + length
local logSeq = tonumber(stored(v[2]) or 0) + redis.call('LLEN', logs)
return { 'OK', first + 2 + dropped, events, lastSeq, logSeq, redis.call('LINDEX', logs, -1), v[3], v[4], v[5], v[6] }
`,
} as const;

export const snapshot = {
  name: 'snapshot', sha1: '9dc3deeca7f17ff1de3e559693620f9620679dd2',
  keys: ['job'], args: ['keySpaceId'], rest: null,
  decode: (r: unknown[]) => ({ seq: Number(r[1]), logSeq: Number(r[2]), at: Number(r[3]), status: r[4] as Status, space: r[5] as string, name: r[6] as string, updatedAt: r[7] === null ? null : Number(r[7]), progress: r[8] as (string | null) }),
  text: `${lua.refusalFor}\n${lua.stored}\n${lua.impliedEntries}\n${lua.digits}\n${lua.now}\nlocal job = KEYS[1]
local keySpaceId = ARGV[1]
local v = redis.call('HMGET', job, 'eventsDropped', 'logsDropped', 'status', 'space', 'name', 'updatedAt', 'progress')
local refusal = refusalFor(stored(v[3]), v[4], keySpaceId)
if refusal then return { refusal } end
local length = redis.call('LLEN', job .. ':events')
if length == 0 then length = #impliedEntries(job, v[3]) end
local seq = 1 + tonumber(stored(v[1]) or 0) + length
local logSeq = tonumber(stored(v[2]) or 0) + redis.call('LLEN', job .. ':logs')
return { 'OK', seq, logSeq, digits(now()), v[3], v[4], v[5], v[6], v[7] }
`,
} as const;

export const append_logs = {
  name: 'append_logs', sha1: '5d27611689cd60c71196626bbfca273217850e18',
  keys: ['job'], args: ['base', 'jobId', 'keySpaceId', 'logsPerJob'], rest: 'entries',
  decode: (r: unknown[]) => ({ lastSeq: Number(r[1]) }),
  text: `${lua.stored}\n${lua.DEFAULT_ATTEMPT}\n${lua.DEFAULT_MAX_RETRIES}\n${lua.DEFAULT_TIMEOUT_SECONDS}\n${lua.loadJob}\n${lua.refusalFor}\n${lua.now}\n${lua.digits}\n${lua.quote}\n${lua.publish}\nlocal job = KEYS[1]
local base, jobId, keySpaceId, logsPerJob = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local entries = { unpack(ARGV, 5) }
local found = loadJob(job, base, jobId)
local refusal = refusalFor(found.status, found.space, keySpaceId)
if refusal then return { refusal } end
local _, at = now()
local opening = '[' .. at
for i = 1, #entries do entries[i] = opening .. entries[i] end
local logs = job .. ':logs'
local dropped = tonumber(stored(redis.call('HGET', job, 'logsDropped')) or 0)
local length = redis.call('RPUSH', logs, unpack(entries))
local last = dropped + length
local excess = length - tonumber(logsPerJob)
if excess > 0 then
  redis.call('LTRIM', logs, excess, -1)
  redis.call('HSET', job, 'logsDropped', digits(dropped + excess))
end
local data = '{"fromSeq":' .. digits(last - #entries + 1) .. ',"toSeq":' .. digits(last) .. ',"count":' .. #entries .. '}'
publish(found, 'null', 'logs_appended', found.status, at, data)
return { 'OK', last }
`,
} as const;

export const read_logs = {
  name: 'read_logs', sha1: 'c01cd11ebf1ef878640c9515322455f558727a92',
  keys: ['job'], args: ['keySpaceId', 'direction', 'bound', 'most', 'budget'], rest: null,
  decode: (r: unknown[]) => ({ dropped: Number(r[1]), newestSeq: Number(r[2]), lists: r.slice(3) as string[][] }),
  text: `${lua.stored}\n${lua.refusalFor}\n${lua.digits}\nlocal job = KEYS[1]
local keySpaceId, direction, bound, most, budget = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local v = redis.call('HMGET', job, 'space', 'logsDropped')
local space = stored(v[1])
local refusal = refusalFor(space, space, keySpaceId)
if refusal then return { refusal } end
local logs = job .. ':logs'
local dropped = tonumber(stored(v[2]) or 0)
local length = redis.call('LLEN', logs)
local first, last = 0, length - 1
if direction == 'after' then first = math.max(0, tonumber(bound) - dropped)
else last = math.min(last, tonumber(bound) - dropped - 2) end
local lists, bytes, left = {}, 0, tonumber(most)
while first <= last and left > 0 and bytes <= tonumber(budget) do
  local count = math.min(20, left, last - first + 1)
  local from = direction == 'after' and first or last - count + 1
  local list = redis.call('LRANGE', logs, digits(from), digits(from + count - 1))
  for i = 1, #list do bytes = bytes + #list[i] end
  if direction == 'after' then first = first + count else last = last - count end
  left = left - count
  lists[#lists + 1] = list
end
return { 'OK', dropped, dropped + length, unpack(lists) }
`,
} as const;

export const stats = {
  name: 'stats', sha1: '543a5df5891bd0d3a9b3d8b5be2efb4c30564977',
  keys: ['names'], args: ['space', 'limit'], rest: 'requested',
  decode: (r: unknown[]) => ({ at: Number(r[1]), counts: (r[2] as unknown[]).map(Number), oldest: r[3] as string, known: Number(r[4]), rows: r[5] as string[] }),
  text: `${lua.STATUSES}\n${lua.stored}\n${lua.digits}\n${lua.now}\nlocal names = KEYS[1]
local space, limit = ARGV[1], ARGV[2]
local requested = { unpack(ARGV, 3) }
local function waiting(queue)
  local pending = redis.call('ZCARD', queue)
  return pending, pending > 0 and redis.call('ZRANGE', queue, 0, 0, 'WITHSCORES')[2] or ''
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
return { 'OK', digits(now()), { unpack(counts) }, oldest, redis.call('ZCARD', names), { unpack(rows) } }
`,
} as const;
