// Made by scripts/lua-module.mjs from packages/store/lua. Do not edit: edit the .lua files and build.

export const ack = {
  name: 'ack',
  sha1: 'e6f4502a4176f1d676051d5418f016af8bca86d6',
  keys: ['job'],
  args: ['base', 'jobId', 'keySpaceId', 'eventsPerJob'],
  rest: null,
  text: `local job = KEYS[1]
local base, jobId, keySpaceId, eventsPerJob = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local function nowMs()
  local time = redis.call('TIME')
  local ms = math.floor(time[2] / 1000)
  return time[1] * 1000.0 + ms, time[1] .. string.format('%03d', ms), time[2]
end
local function isTooLate(now, deadline)
  return deadline ~= '' and now > tonumber(deadline)
end
local function digits(number)
  if number < 1e8 or number > 2 ^ 53 then return string.format('%.0f', number) end
  local low = number % 1e8
  return string.format('%d%08d', (number - low) / 1e8, low)
end
local function stored(value)
  return type(value) == 'string' and value or nil
end
local function loadJob(key, base, id, ...)
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
end
local function refuse(job, keySpaceId)
  if not job.status then return 'JOB_NOT_FOUND' end
  if keySpaceId ~= '' and keySpaceId ~= job.space then return 'FORBIDDEN' end
end
local function moveStatus(job, to)
  local index = job.base .. 'space:' .. job.space .. '/status/'
  redis.call('ZREM', index .. job.status, job.id)
  redis.call('ZADD', index .. to, job.order, job.id)
end
local function impliedEntries(key, status)
  if status ~= 'delivered' and status ~= 'running' and status ~= 'completed' then return {} end
  local v = redis.call('HMGET', key, 'deliveredAt', 'startedAt', 'updatedAt')
  for i = 1, 3 do v[i] = stored(v[i]) or '0' end -- a damaged record must not stop what is done with its job; fsck names it
  local delivered = '["delivered",' .. v[1] .. ']'
  if status == 'delivered' then return { delivered } end
  local acked = '["acked",' .. v[2] .. ']'
  if status == 'running' then return { delivered, acked } end
  return { delivered, acked, '["completed",' .. v[3] .. ']' }
end
local function quote(text)
  if not string.find(text, '[%c"\\\\]') then return '"' .. text .. '"' end -- as good as always
  return '"' .. string.gsub(text, '[%c"\\\\]', function(c) return string.format('\\\\u%04x', string.byte(c)) end) .. '"'
end
local function publish(job, seq, type, status, at, data)
  local message = '{"seq":' .. seq .. ',"jobId":"' .. job.id .. '","jobName":' .. quote(job.name) .. ',"spaceId":"' .. job.space
    .. '","type":"' .. type .. '","status":"' .. status .. '","data":' .. data .. ',"at":' .. at .. '}'
  redis.call('PUBLISH', job.base .. 'stream:job:' .. job.id, message)
  redis.call('PUBLISH', job.base .. 'stream:space:' .. job.space, message)
end
local function append(job, at, type, data, eventsPerJob)
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
end
local function record(job, at, type, status, data, eventsPerJob, ...)
  local seq = append(job, at, type, data, eventsPerJob)
  redis.call('HSET', job.key, 'status', status, 'updatedAt', at, ...)
  publish(job, seq, type, status, at, data)
end
local function openWindow(job, now)
  local closes = now + math.ceil(tonumber(job.timeoutSeconds) * 1000)
  redis.call('ZADD', job.base .. 'deadlines', digits(closes), job.id)
end
local found, deliveryTimeouts = loadJob(job, base, jobId, 'deliveryTimeouts')
local refusal = refuse(found, keySpaceId)
if refusal then return { refusal } end
if found.status ~= 'delivered' then return { 'JOB_NOT_DELIVERED', found.status } end
local now, at = nowMs()
moveStatus(found, 'running')
openWindow(found, now)
if stored(deliveryTimeouts) then redis.call('HDEL', job, 'deliveryTimeouts') end
record(found, at, 'acked', 'running', 'null', eventsPerJob, 'startedAt', at, 'attempt', digits(found.attempt + 1))
return { 'OK' }
`,
} as const;

export const append_logs = {
  name: 'append_logs',
  sha1: '255529ea2776da9ae76f77f77d8e3f9bd1c9ab71',
  keys: ['job'],
  args: ['base', 'jobId', 'keySpaceId', 'logsPerJob'],
  rest: 'entries',
  text: `local job = KEYS[1]
local base, jobId, keySpaceId, logsPerJob = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local entries = { unpack(ARGV, 5) }
local function nowMs()
  local time = redis.call('TIME')
  local ms = math.floor(time[2] / 1000)
  return time[1] * 1000.0 + ms, time[1] .. string.format('%03d', ms), time[2]
end
local function isTooLate(now, deadline)
  return deadline ~= '' and now > tonumber(deadline)
end
local function digits(number)
  if number < 1e8 or number > 2 ^ 53 then return string.format('%.0f', number) end
  local low = number % 1e8
  return string.format('%d%08d', (number - low) / 1e8, low)
end
local function stored(value)
  return type(value) == 'string' and value or nil
end
local function loadJob(key, base, id, ...)
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
end
local function refuse(job, keySpaceId)
  if not job.status then return 'JOB_NOT_FOUND' end
  if keySpaceId ~= '' and keySpaceId ~= job.space then return 'FORBIDDEN' end
end
local function quote(text)
  if not string.find(text, '[%c"\\\\]') then return '"' .. text .. '"' end -- as good as always
  return '"' .. string.gsub(text, '[%c"\\\\]', function(c) return string.format('\\\\u%04x', string.byte(c)) end) .. '"'
end
local function publish(job, seq, type, status, at, data)
  local message = '{"seq":' .. seq .. ',"jobId":"' .. job.id .. '","jobName":' .. quote(job.name) .. ',"spaceId":"' .. job.space
    .. '","type":"' .. type .. '","status":"' .. status .. '","data":' .. data .. ',"at":' .. at .. '}'
  redis.call('PUBLISH', job.base .. 'stream:job:' .. job.id, message)
  redis.call('PUBLISH', job.base .. 'stream:space:' .. job.space, message)
end
local found = loadJob(job, base, jobId)
local refusal = refuse(found, keySpaceId)
if refusal then return { refusal } end
local _, at = nowMs()
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

export const begin_callback = {
  name: 'begin_callback',
  sha1: '39dff6dff3da57a7af9b70c7ff38c73c5bf9791e',
  keys: ['job'],
  args: ['base', 'jobId', 'round', 'leaseMs', 'patienceMs'],
  rest: null,
  text: `local job = KEYS[1]
local base, jobId, round, leaseMs, patienceMs = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local function nowMs()
  local time = redis.call('TIME')
  local ms = math.floor(time[2] / 1000)
  return time[1] * 1000.0 + ms, time[1] .. string.format('%03d', ms), time[2]
end
local function isTooLate(now, deadline)
  return deadline ~= '' and now > tonumber(deadline)
end
local function digits(number)
  if number < 1e8 or number > 2 ^ 53 then return string.format('%.0f', number) end
  local low = number % 1e8
  return string.format('%d%08d', (number - low) / 1e8, low)
end
local function stored(value)
  return type(value) == 'string' and value or nil
end
local function loadJob(key, base, id, ...)
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
end
local function refuse(job, keySpaceId)
  if not job.status then return 'JOB_NOT_FOUND' end
  if keySpaceId ~= '' and keySpaceId ~= job.space then return 'FORBIDDEN' end
end
local function loadCallback(job)
  local hasEnded = job.status == 'completed' or job.status == 'dead'
  if not hasEnded or not redis.call('ZSCORE', job.base .. 'callbacks', job.id) then return nil end
  local v = redis.call('HMGET', job.key, 'callbackAttempts', 'callbackRound', 'callbackDueAt', 'callbackLeasedUntil')
  for i = 1, 4 do v[i] = tonumber(stored(v[i]) or 0) end
  return { attempts = v[1], round = v[2], due = v[3], leasedUntil = v[4] }
end
local function putOff(job, at)
  redis.call('ZREM', job.base .. 'callbacks', job.id)
  redis.call('ZADD', job.base .. 'callbacks', digits(at), job.id)
end
local found = loadJob(job, base, jobId)
local callback = loadCallback(found)
if not callback or callback.round ~= tonumber(round) then return { 'NOT_OWED' } end
local now, at = nowMs()
if callback.leasedUntil > now then return { 'NOT_DUE', math.min(callback.leasedUntil - now, tonumber(patienceMs)) } end
if callback.due > now then return { 'NOT_DUE', callback.due - now } end
local lease = now + tonumber(leaseMs)
putOff(found, lease)
redis.call('HSET', job, 'callbackLeasedUntil', digits(lease))
local told = redis.call('HMGET', job, 'space', 'name', 'status', 'attempt', 'callbackUrl', 'callbackHeaders', 'result', 'error', 'updatedAt')
return { 'OK', at, callback.attempts + 1, digits(lease), told }
`,
} as const;

export const bring_back = {
  name: 'bring_back',
  sha1: '59fd9aa6542ad4a2c6211150b065763431d95f4d',
  keys: ['index'],
  args: ['base', 'afterOrder', 'limit', 'deliveryTimeoutMs'],
  rest: null,
  text: `local index = KEYS[1]
local base, afterOrder, limit, deliveryTimeoutMs = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local function nowMs()
  local time = redis.call('TIME')
  local ms = math.floor(time[2] / 1000)
  return time[1] * 1000.0 + ms, time[1] .. string.format('%03d', ms), time[2]
end
local function isTooLate(now, deadline)
  return deadline ~= '' and now > tonumber(deadline)
end
local function digits(number)
  if number < 1e8 or number > 2 ^ 53 then return string.format('%.0f', number) end
  local low = number % 1e8
  return string.format('%d%08d', (number - low) / 1e8, low)
end
local function stored(value)
  return type(value) == 'string' and value or nil
end
local function loadJob(key, base, id, ...)
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
end
local function refuse(job, keySpaceId)
  if not job.status then return 'JOB_NOT_FOUND' end
  if keySpaceId ~= '' and keySpaceId ~= job.space then return 'FORBIDDEN' end
end
local function windowOf(job, deliveryTimeoutMs)
  if job.status == 'delivered' then return tonumber(deliveryTimeoutMs) end
  return math.ceil(tonumber(job.timeoutSeconds) * 1000)
end
local function reopenWindow(job, now, windowMs)
  redis.call('ZREM', job.base .. 'deadlines', job.id)
  redis.call('ZADD', job.base .. 'deadlines', digits(now + windowMs), job.id)
end
local now = nowMs()
local function bringBack(id)
  local found, deliveredAt = loadJob(base .. 'job:' .. id, base, id, 'deliveredAt')
  if found.status ~= 'delivered' and found.status ~= 'running' then return 0 end -- A stray entry.
  local windowMs = windowOf(found, deliveryTimeoutMs)
  local due = tonumber(stored(redis.call('ZSCORE', base .. 'deadlines', id)) or 0)
  if due <= now + windowMs then return 0 end
  if found.status == 'delivered' and tonumber(deliveredAt) <= now then return 0 end
  reopenWindow(found, now, windowMs)
  return 1
end
local page = redis.call('ZRANGEBYSCORE', index, '(' .. afterOrder, '+inf', 'WITHSCORES', 'LIMIT', 0, limit)
local broughtBack = 0
for i = 1, #page, 2 do
  local ok, count = pcall(bringBack, page[i]) -- Not of a record that is not what we write: fsck names it.
  if ok then broughtBack = broughtBack + count end
end
return { 'OK', #page / 2, page[#page] or afterOrder, broughtBack }
`,
} as const;

export const check_entries = {
  name: 'check_entries',
  sha1: '2c05347ef46655e8816e16c97ebfd798f82a1c83',
  keys: ['index'],
  args: ['base', 'isRepairing', 'space', 'name'],
  rest: 'ids',
  text: `local index = KEYS[1]
local base, isRepairing, space, name = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local ids = { unpack(ARGV, 5) }
local function nowMs()
  local time = redis.call('TIME')
  local ms = math.floor(time[2] / 1000)
  return time[1] * 1000.0 + ms, time[1] .. string.format('%03d', ms), time[2]
end
local function isTooLate(now, deadline)
  return deadline ~= '' and now > tonumber(deadline)
end
local function digits(number)
  if number < 1e8 or number > 2 ^ 53 then return string.format('%.0f', number) end
  local low = number % 1e8
  return string.format('%d%08d', (number - low) / 1e8, low)
end
local function stored(value)
  return type(value) == 'string' and value or nil
end
local function loadJob(key, base, id, ...)
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
end
local function refuse(job, keySpaceId)
  if not job.status then return 'JOB_NOT_FOUND' end
  if keySpaceId ~= '' and keySpaceId ~= job.space then return 'FORBIDDEN' end
end
local function findings()
  return { flat = {}, removals = {}, additions = {} }
end
local function find(found, kind, key, detail, repairBy, repair)
  local flat = found.flat
  for _, word in ipairs({ kind, key, detail, '' }) do flat[#flat + 1] = word end
  if repair then repairBy[#repairBy + 1] = { outcomeAt = #flat, run = repair } end
end
local function saying(fault)
  return type(fault) == 'table' and fault.err or tostring(fault)
end
local function repairAll(found)
  for _, fixes in ipairs({ found.removals, found.additions }) do
    for _, fix in ipairs(fixes) do
      local isRepaired, fault = pcall(fix.run)
      found.flat[fix.outcomeAt] = isRepaired and 'repaired' or saying(fault)
    end
  end
end
local function scoreIn(index, member)
  return tonumber(stored(redis.call('ZSCORE', index, member)) or '')
end
local function place(index, score, member)
  redis.call('ZREM', index, member)
  redis.call('ZADD', index, score, member)
end
local function mustBeIn(found, index, id, score)
  local actual = scoreIn(index, id)
  if actual == tonumber(score) then return end
  local kind = actual and 'entry_misplaced' or 'entry_missing'
  local detail = actual and ('at ' .. digits(actual) .. ' instead of ' .. score) or ('belongs at ' .. score)
  find(found, kind, index, detail, found.additions, function() place(index, score, id) end)
end
local function mustNotBeIn(found, index, id, why)
  if not scoreIn(index, id) then return end
  find(found, 'entry_wrong', index, why, found.removals, function() redis.call('ZREM', index, id) end)
end
local function xor(a, b)
  local sum = 0
  for place = 0, 5 do
    if a % 2 ~= b % 2 then sum = sum + 2 ^ place end
    a, b = math.floor(a / 2), math.floor(b / 2)
  end
  return sum
end
local known = {}
local function partitionOf(space)
  if not known[space] then
    local hash = 0x811c9dc5 % 64
    for i = 1, #space do hash = xor(hash, string.byte(space, i) % 64) * (0x01000193 % 64) % 64 end
    known[space] = string.format('%02x', hash)
  end
  return known[space]
end
local function isSpaceOf(base, space)
  return #space <= 128 and string.find(space, '^[%w%._:%-]+$') ~= nil and string.sub(base, -5) == '{' .. partitionOf(space) .. '}:'
end
local strays = {}
local function examine(id)
  local key = base .. 'job:' .. id
  local v = redis.call('HMGET', key, 'space', 'name')
  local ofSpace, ofName = stored(v[1]), stored(v[2])
  if not ofSpace and redis.call('EXISTS', key) == 0 then return 'the job does not exist' end
  if not ofSpace or not isSpaceOf(base, ofSpace) then return nil end
  if space ~= '' and ofSpace ~= space then return 'the job is of space ' .. ofSpace end
  if name ~= '' and ofName and ofName ~= name then return 'the job is named ' .. ofName end
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
return { 'OK', { unpack(strays) } } -- a constructor, see list.lua
`,
} as const;

export const check_jobs = {
  name: 'check_jobs',
  sha1: '163a0dbc30808e43ebe68e51ffb2ae90bc6646ac',
  keys: ['deadlines'],
  args: ['base', 'isRepairing', 'deliveryTimeoutMs', 'retentionMs'],
  rest: 'ids',
  text: `local deadlines = KEYS[1]
local base, isRepairing, deliveryTimeoutMs, retentionMs = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local ids = { unpack(ARGV, 5) }
local function nowMs()
  local time = redis.call('TIME')
  local ms = math.floor(time[2] / 1000)
  return time[1] * 1000.0 + ms, time[1] .. string.format('%03d', ms), time[2]
end
local function isTooLate(now, deadline)
  return deadline ~= '' and now > tonumber(deadline)
end
local function digits(number)
  if number < 1e8 or number > 2 ^ 53 then return string.format('%.0f', number) end
  local low = number % 1e8
  return string.format('%d%08d', (number - low) / 1e8, low)
end
local function nextOrder(base, space, moment)
  local spaces, order = base .. 'spaces', digits(moment)
  if redis.pcall('ZADD', spaces, 'CH', 'GT', order, space) == 1 then return order end
  local last = tonumber(redis.call('ZSCORE', spaces, space) or 0)
  order = digits(math.max(last + 1, moment))
  redis.call('ZADD', spaces, order, space)
  return order
end
local function stored(value)
  return type(value) == 'string' and value or nil
end
local function loadJob(key, base, id, ...)
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
end
local function refuse(job, keySpaceId)
  if not job.status then return 'JOB_NOT_FOUND' end
  if keySpaceId ~= '' and keySpaceId ~= job.space then return 'FORBIDDEN' end
end
local function owe(job, now)
  redis.call('ZADD', job.base .. 'callbacks', digits(now), job.id)
  redis.call('PUBLISH', job.base .. 'owed', '1')
end
local function findings()
  return { flat = {}, removals = {}, additions = {} }
end
local function find(found, kind, key, detail, repairBy, repair)
  local flat = found.flat
  for _, word in ipairs({ kind, key, detail, '' }) do flat[#flat + 1] = word end
  if repair then repairBy[#repairBy + 1] = { outcomeAt = #flat, run = repair } end
end
local function saying(fault)
  return type(fault) == 'table' and fault.err or tostring(fault)
end
local function repairAll(found)
  for _, fixes in ipairs({ found.removals, found.additions }) do
    for _, fix in ipairs(fixes) do
      local isRepaired, fault = pcall(fix.run)
      found.flat[fix.outcomeAt] = isRepaired and 'repaired' or saying(fault)
    end
  end
end
local function scoreIn(index, member)
  return tonumber(stored(redis.call('ZSCORE', index, member)) or '')
end
local function place(index, score, member)
  redis.call('ZREM', index, member)
  redis.call('ZADD', index, score, member)
end
local function mustBeIn(found, index, id, score)
  local actual = scoreIn(index, id)
  if actual == tonumber(score) then return end
  local kind = actual and 'entry_misplaced' or 'entry_missing'
  local detail = actual and ('at ' .. digits(actual) .. ' instead of ' .. score) or ('belongs at ' .. score)
  find(found, kind, index, detail, found.additions, function() place(index, score, id) end)
end
local function mustNotBeIn(found, index, id, why)
  if not scoreIn(index, id) then return end
  find(found, 'entry_wrong', index, why, found.removals, function() redis.call('ZREM', index, id) end)
end
local function xor(a, b)
  local sum = 0
  for place = 0, 5 do
    if a % 2 ~= b % 2 then sum = sum + 2 ^ place end
    a, b = math.floor(a / 2), math.floor(b / 2)
  end
  return sum
end
local known = {}
local function partitionOf(space)
  if not known[space] then
    local hash = 0x811c9dc5 % 64
    for i = 1, #space do hash = xor(hash, string.byte(space, i) % 64) * (0x01000193 % 64) % 64 end
    known[space] = string.format('%02x', hash)
  end
  return known[space]
end
local function isSpaceOf(base, space)
  return #space <= 128 and string.find(space, '^[%w%._:%-]+$') ~= nil and string.sub(base, -5) == '{' .. partitionOf(space) .. '}:'
end
local STATUSES = { 'pending', 'delivered', 'running', 'completed', 'dead', 'killed' }
local IS_STATUS = {}
for _, status in ipairs(STATUSES) do IS_STATUS[status] = true end
local WHOLE = { 'attempt', 'maxRetries', 'deliveryTimeouts', 'eventsDropped', 'logsDropped', 'deliveredAt', 'startedAt', 'updatedAt',
  'callbackAttempts', 'callbackRound', 'callbackDueAt', 'callbackLeasedUntil' }
local FIELDS = { 'status', 'space', 'name', 'order', 'timeoutSeconds', unpack(WHOLE) }
local NEEDS = { delivered = { 'deliveredAt' }, running = { 'deliveredAt', 'startedAt' }, completed = { 'deliveredAt', 'startedAt' } }
local LACKS = { pending = { 'deliveredAt', 'startedAt' }, delivered = { 'startedAt' } }
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
  check('timeoutSeconds', (tonumber(r.timeoutSeconds or 300) or 0) > 0)
  r.isPlaceable = hasStatus and hasSpace and hasName and hasOrder
  if not hasStatus or not areWhole then return r end
  local attempt, status = tonumber(r.attempt or 0), r.status
  local hasRun = status == 'running' or status == 'completed' or (status == 'dead' and not r.deliveryTimeouts)
  if attempt > tonumber(r.maxRetries or 3) + 1 or (hasRun and attempt == 0) then broken('attempt')
  else r.hasRetried = attempt > (hasRun and 1 or 0) end
  if status ~= 'pending' and not r.updatedAt then broken('updatedAt') end
  for _, field in ipairs(NEEDS[status] or {}) do if not r[field] then broken(field) end end
  for _, field in ipairs(LACKS[status] or {}) do if r[field] then broken(field, 'is there, of a job that is ' .. status) end end
  if status == 'completed' and redis.call('HEXISTS', key, 'result') == 0 then broken('result') end
  return r
end
local LAST_ORDER = 2 ^ 53
local function checkOrder(found, base, space, newest)
  local spaces = base .. 'spaces'
  local last = scoreIn(spaces, space)
  if last and last >= newest and last < LAST_ORDER then return end
  local kind = not last and 'space_missing' or last < newest and 'space_behind' or 'space_ahead'
  local detail = space .. (last and ' is at ' .. digits(last) or ' is not listed, and has jobs')
  find(found, kind, spaces, detail, found.additions, function()
    for _, index in ipairs({ '/jobs', '/queue' }) do
      local top = redis.call('ZREVRANGE', base .. 'space:' .. space .. index, 0, 0, 'WITHSCORES')
      local order = tonumber(top[2] or 0)
      if order < LAST_ORDER then newest = math.max(newest, order) end
    end
    place(spaces, digits(newest), space)
  end)
end
local function checkQueues(found, r, base, now, queues)
  local order = tonumber(r.order)
  local function fits(score)
    local isLater = score and r.attempt and score > order and score < LAST_ORDER
    return (isLater or score == order) and score or nil
  end
  local right = fits(scoreIn(queues[1], r.id)) or fits(scoreIn(queues[2], r.id)) or (not r.attempt and order) or nil
  checkOrder(found, base, r.space, right or order)
  local function enter(queue)
    redis.call('ZREM', queue, r.id)
    right = right or tonumber(nextOrder(base, r.space, now * 1024)) -- the end of the queue, as after a retry
    redis.call('ZADD', queue, digits(right), r.id)
  end
  for _, queue in ipairs(queues) do
    local score = scoreIn(queue, r.id)
    if not score or score ~= right then
      local detail = score and 'at ' .. digits(score) .. ', out of order' or 'the job is pending'
      find(found, score and 'entry_misplaced' or 'entry_missing', queue, detail, found.additions, function() enter(queue) end)
    end
  end
end
local function checkPlaces(found, r, base, now)
  local space = base .. 'space:' .. r.space
  mustBeIn(found, space .. '/jobs', r.id, r.order)
  for _, status in ipairs(STATUSES) do
    local index = space .. '/status/' .. status
    if status == r.status then mustBeIn(found, index, r.id, r.order)
    else mustNotBeIn(found, index, r.id, 'the job is ' .. r.status) end
  end
  local queues = { space .. '/queue', space .. '/queue/' .. r.name }
  if r.status == 'pending' then return checkQueues(found, r, base, now, queues) end
  for _, queue in ipairs(queues) do mustNotBeIn(found, queue, r.id, 'the job is ' .. r.status) end
  checkOrder(found, base, r.space, tonumber(r.order))
end
local CLOCK_SLACK_MS = 300000
local LONGEST_DELIVERY_MS = 86400000
local function checkDeadline(found, r, base, now, deliveryTimeoutMs, retentionMs)
  local deadlines = base .. 'deadlines'
  if r.status == 'pending' then return mustNotBeIn(found, deadlines, r.id, 'the job is pending') end
  local windowMs = math.ceil((tonumber(r.timeoutSeconds or 300) or 300) * 1000)
  local due, latest = nil, nil
  if r.status == 'delivered' then
    due = r.deliveredAt and math.min(tonumber(r.deliveredAt), now) + deliveryTimeoutMs or now
    latest = now + LONGEST_DELIVERY_MS
  elseif r.status == 'running' then
    due, latest = now + windowMs, now + windowMs
  elseif retentionMs > 0 then
    due = now + retentionMs
  end
  local actual = scoreIn(deadlines, r.id)
  if due and not actual then
    find(found, 'deadline_missing', deadlines, 'the job is ' .. r.status, found.additions, function() place(deadlines, digits(due), r.id) end)
  elseif latest and actual > latest + CLOCK_SLACK_MS then
    local detail = 'the job is ' .. r.status .. ', and not due before ' .. digits(actual)
    find(found, 'deadline_late', deadlines, detail, found.additions, function() place(deadlines, digits(due), r.id) end)
  end
end
local function checkCallback(found, r, base, now)
  local callbacks = base .. 'callbacks'
  local hasEnded = r.status == 'completed' or r.status == 'dead'
  local isOwed = scoreIn(callbacks, r.id) ~= nil
  if not isOwed and not hasEnded then return end
  local mayOwe = hasEnded and redis.call('HEXISTS', r.key, 'callbackUrl') == 1
  if isOwed and not mayOwe then
    mustNotBeIn(found, callbacks, r.id, hasEnded and 'the job has no callback' or 'the job is ' .. r.status)
  elseif mayOwe and not isOwed and (not r.callbackAttempts or r.callbackDueAt or r.callbackLeasedUntil) then
    local detail = r.callbackAttempts and 'its next attempt is due, and not owed' or 'it was never attempted, and is not owed'
    find(found, 'callback_forgotten', callbacks, detail, found.additions, function()
      redis.call('ZREM', callbacks, r.id)
      owe({ base = base, id = r.id }, now)
    end)
  end
end
local STATUS_AFTER = { delivered = 'delivered', acked = 'running', progress = 'running', checkpoint = 'running',
  event = 'running', completed = 'completed', retried = 'pending', delivery_timeout = 'pending', dead = 'dead',
  killed = 'killed', callback_sent = '', callback_failed = '' }
local MOST_CALLBACKS = 20
local function typeOf(entry)
  return string.match(entry, '^%["([%l_]+)",%d+[,%]]') or 'none'
end
local function happened(r)
  if r.status == 'dead' or r.status == 'killed' then return 'the job is ' .. r.status end
  if r.hasRetried then return 'an attempt has failed' end
  if redis.call('HEXISTS', r.key, 'progress') + redis.call('HEXISTS', r.key, 'checkpoint') > 0 then return 'its worker has reported' end
  return r.callbackAttempts and 'its callback was attempted'
end
local function checkList(found, r, history)
  local first = redis.call('LINDEX', history, 0)
  for i = 1, MOST_CALLBACKS do
    local entry = stored(redis.call('LINDEX', history, -i))
    local status = STATUS_AFTER[entry and typeOf(entry) or '']
    if entry and not status then return find(found, 'history_unreadable', history, 'entry ' .. -i .. ' is none of ours') end
    if not entry or status ~= '' then
      local told = entry and status or r.eventsDropped and r.status or 'pending'
      if IS_STATUS[r.status or ''] and told ~= r.status then
        return find(found, 'history_disagrees', history, 'the record says ' .. r.status .. ', its history ' .. told)
      end
      break
    end
  end
  local begins = typeOf(first)
  if not r.eventsDropped and begins ~= 'delivered' and begins ~= 'killed' then
    find(found, 'history_incomplete', history, 'it begins with ' .. begins)
  end
end
local function checkLists(found, r)
  local history, logs = r.key .. ':events', r.key .. ':logs'
  if redis.call('EXISTS', history) == 1 then
    checkList(found, r, history)
  elseif r.eventsDropped then
    find(found, 'entries_lost', history, 'it has lost its oldest ' .. r.eventsDropped .. ' events, and the others too')
  elseif IS_STATUS[r.status or ''] and happened(r) then
    find(found, 'history_incomplete', history, 'there is none, and ' .. happened(r))
  end
  if r.logsDropped and redis.call('EXISTS', logs) == 0 then
    find(found, 'entries_lost', logs, 'it has lost its oldest ' .. r.logsDropped .. ' entries, and the others too')
  end
end
local now = nowMs()
local function examine(id)
  local found = findings()
  local r = checkedRecord(found, base, id)
  if not r then return {} end
  if r.isPlaceable then
    checkPlaces(found, r, base, now)
    checkDeadline(found, r, base, now, tonumber(deliveryTimeoutMs), tonumber(retentionMs))
    checkCallback(found, r, base, now)
  end
  checkLists(found, r)
  if isRepairing == '1' then repairAll(found) end
  return found.flat
end
local faulty = {}
for _, id in ipairs(ids) do
  local isDone, faults = pcall(examine, id)
  if not isDone then faults = { 'job_unreadable', base .. 'job:' .. id, saying(faults), '' } end
  if #faults > 0 then faulty[#faulty + 1] = { id, { unpack(faults) } } end
end
return { 'OK', unpack(faulty) } -- a constructor, see list.lua
`,
} as const;

export const check_names = {
  name: 'check_names',
  sha1: '21d1b3b880b0534ed99908398f5fe5263806d36d',
  keys: ['names'],
  args: ['base', 'space', 'isRepairing', 'afterOrder', 'counted'],
  rest: 'counts',
  text: `local names = KEYS[1]
local base, space, isRepairing, afterOrder, counted = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local counts = { unpack(ARGV, 6) }
local function nowMs()
  local time = redis.call('TIME')
  local ms = math.floor(time[2] / 1000)
  return time[1] * 1000.0 + ms, time[1] .. string.format('%03d', ms), time[2]
end
local function isTooLate(now, deadline)
  return deadline ~= '' and now > tonumber(deadline)
end
local function digits(number)
  if number < 1e8 or number > 2 ^ 53 then return string.format('%.0f', number) end
  local low = number % 1e8
  return string.format('%d%08d', (number - low) / 1e8, low)
end
local function stored(value)
  return type(value) == 'string' and value or nil
end
local function loadJob(key, base, id, ...)
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
end
local function refuse(job, keySpaceId)
  if not job.status then return 'JOB_NOT_FOUND' end
  if keySpaceId ~= '' and keySpaceId ~= job.space then return 'FORBIDDEN' end
end
local function findings()
  return { flat = {}, removals = {}, additions = {} }
end
local function find(found, kind, key, detail, repairBy, repair)
  local flat = found.flat
  for _, word in ipairs({ kind, key, detail, '' }) do flat[#flat + 1] = word end
  if repair then repairBy[#repairBy + 1] = { outcomeAt = #flat, run = repair } end
end
local function saying(fault)
  return type(fault) == 'table' and fault.err or tostring(fault)
end
local function repairAll(found)
  for _, fixes in ipairs({ found.removals, found.additions }) do
    for _, fix in ipairs(fixes) do
      local isRepaired, fault = pcall(fix.run)
      found.flat[fix.outcomeAt] = isRepaired and 'repaired' or saying(fault)
    end
  end
end
local function scoreIn(index, member)
  return tonumber(stored(redis.call('ZSCORE', index, member)) or '')
end
local function place(index, score, member)
  redis.call('ZREM', index, member)
  redis.call('ZADD', index, score, member)
end
local function mustBeIn(found, index, id, score)
  local actual = scoreIn(index, id)
  if actual == tonumber(score) then return end
  local kind = actual and 'entry_misplaced' or 'entry_missing'
  local detail = actual and ('at ' .. digits(actual) .. ' instead of ' .. score) or ('belongs at ' .. score)
  find(found, kind, index, detail, found.additions, function() place(index, score, id) end)
end
local function mustNotBeIn(found, index, id, why)
  if not scoreIn(index, id) then return end
  find(found, 'entry_wrong', index, why, found.removals, function() redis.call('ZREM', index, id) end)
end
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
        if right > 0 then redis.call('ZADD', names, digits(right), name) end
      end)
      outcome = isRepaired and 'repaired' or saying(fault)
    end
    for _, word in ipairs({ name, digits(kept or 0), digits(right), outcome }) do wrong[#wrong + 1] = word end
  end
end
return { 'OK', { unpack(wrong) } } -- a constructor, see list.lua
`,
} as const;

export const check_orphan = {
  name: 'check_orphan',
  sha1: '1192f316d6167e82c1e762ba7127f66deda1dd63',
  keys: ['key'],
  args: ['isRepairing'],
  rest: 'owners',
  text: `local key = KEYS[1]
local isRepairing = ARGV[1]
local owners = { unpack(ARGV, 2) }
if redis.call('EXISTS', unpack(owners)) > 0 or redis.call('EXISTS', key) == 0 then return { 'OK', '' } end
if isRepairing ~= '1' then return { 'OK', 'orphan' } end
redis.call('UNLINK', key)
return { 'OK', 'repaired' }
`,
} as const;

export const check_spaces = {
  name: 'check_spaces',
  sha1: 'd94fd22c72f8d345033bd92aceac302d03616d18',
  keys: ['spaces'],
  args: ['base', 'isRepairing'],
  rest: 'ids',
  text: `local spaces = KEYS[1]
local base, isRepairing = ARGV[1], ARGV[2]
local ids = { unpack(ARGV, 3) }
local INDEXES = { 'jobs', 'queue', 'status/pending', 'status/delivered', 'status/running', 'status/completed', 'status/dead', 'status/killed' }
local empty = {}
for _, id in ipairs(ids) do
  local keys = {}
  for i, index in ipairs(INDEXES) do keys[i] = base .. 'space:' .. id .. '/' .. index end
  if redis.call('EXISTS', unpack(keys)) == 0 and redis.call('ZSCORE', spaces, id) then
    local outcome = ''
    if isRepairing == '1' then
      redis.call('ZREM', spaces, id)
      redis.call('UNLINK', base .. 'space:' .. id .. '/names')
      outcome = 'repaired'
    end
    empty[#empty + 1] = id
    empty[#empty + 1] = outcome
  end
end
return { 'OK', { unpack(empty) } } -- a constructor, see list.lua
`,
} as const;

export const claim = {
  name: 'claim',
  sha1: 'aa812f2702f1f73881e7e526f5b67df34dd4e6a3',
  keys: ['job'],
  args: ['base', 'jobId', 'keySpaceId', 'deliveryTimeoutMs', 'eventsPerJob', 'deadline'],
  rest: null,
  text: `local job = KEYS[1]
local base, jobId, keySpaceId, deliveryTimeoutMs, eventsPerJob, deadline = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local function nowMs()
  local time = redis.call('TIME')
  local ms = math.floor(time[2] / 1000)
  return time[1] * 1000.0 + ms, time[1] .. string.format('%03d', ms), time[2]
end
local function isTooLate(now, deadline)
  return deadline ~= '' and now > tonumber(deadline)
end
local function digits(number)
  if number < 1e8 or number > 2 ^ 53 then return string.format('%.0f', number) end
  local low = number % 1e8
  return string.format('%d%08d', (number - low) / 1e8, low)
end
local function stored(value)
  return type(value) == 'string' and value or nil
end
local function loadJob(key, base, id, ...)
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
end
local function refuse(job, keySpaceId)
  if not job.status then return 'JOB_NOT_FOUND' end
  if keySpaceId ~= '' and keySpaceId ~= job.space then return 'FORBIDDEN' end
end
local function moveStatus(job, to)
  local index = job.base .. 'space:' .. job.space .. '/status/'
  redis.call('ZREM', index .. job.status, job.id)
  redis.call('ZADD', index .. to, job.order, job.id)
end
local function enqueue(job, order)
  local queue = job.base .. 'space:' .. job.space .. '/queue'
  redis.call('ZADD', queue, order, job.id)
  redis.call('ZADD', queue .. '/' .. job.name, order, job.id)
end
local function dequeue(job)
  local queue = job.base .. 'space:' .. job.space .. '/queue'
  redis.call('ZREM', queue, job.id)
  redis.call('ZREM', queue .. '/' .. job.name, job.id)
end
local function impliedEntries(key, status)
  if status ~= 'delivered' and status ~= 'running' and status ~= 'completed' then return {} end
  local v = redis.call('HMGET', key, 'deliveredAt', 'startedAt', 'updatedAt')
  for i = 1, 3 do v[i] = stored(v[i]) or '0' end -- a damaged record must not stop what is done with its job; fsck names it
  local delivered = '["delivered",' .. v[1] .. ']'
  if status == 'delivered' then return { delivered } end
  local acked = '["acked",' .. v[2] .. ']'
  if status == 'running' then return { delivered, acked } end
  return { delivered, acked, '["completed",' .. v[3] .. ']' }
end
local function quote(text)
  if not string.find(text, '[%c"\\\\]') then return '"' .. text .. '"' end -- as good as always
  return '"' .. string.gsub(text, '[%c"\\\\]', function(c) return string.format('\\\\u%04x', string.byte(c)) end) .. '"'
end
local function publish(job, seq, type, status, at, data)
  local message = '{"seq":' .. seq .. ',"jobId":"' .. job.id .. '","jobName":' .. quote(job.name) .. ',"spaceId":"' .. job.space
    .. '","type":"' .. type .. '","status":"' .. status .. '","data":' .. data .. ',"at":' .. at .. '}'
  redis.call('PUBLISH', job.base .. 'stream:job:' .. job.id, message)
  redis.call('PUBLISH', job.base .. 'stream:space:' .. job.space, message)
end
local function append(job, at, type, data, eventsPerJob)
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
end
local function record(job, at, type, status, data, eventsPerJob, ...)
  local seq = append(job, at, type, data, eventsPerJob)
  redis.call('HSET', job.key, 'status', status, 'updatedAt', at, ...)
  publish(job, seq, type, status, at, data)
end
local function deliver(job, now, at, deliveryTimeoutMs, eventsPerJob)
  moveStatus(job, 'delivered')
  redis.call('ZADD', job.base .. 'deadlines', digits(now + deliveryTimeoutMs), job.id)
  record(job, at, 'delivered', 'delivered', 'null', eventsPerJob, 'deliveredAt', at)
end
local function claimedJob(job, payload, checkpoint)
  return { job.id, job.name, job.timeoutSeconds, job.maxRetries, job.attempt, job.order, payload, checkpoint }
end
local found, payload, checkpoint = loadJob(job, base, jobId, 'payload', 'checkpoint')
local refusal = refuse(found, keySpaceId)
if refusal then return { refusal } end
if found.status ~= 'pending' then return { 'NOT_PENDING', found.status } end
local now, at = nowMs()
if isTooLate(now, deadline) then return { 'TOO_LATE' } end
dequeue(found)
deliver(found, now, at, deliveryTimeoutMs, eventsPerJob)
return { 'OK', claimedJob(found, payload, checkpoint) }
`,
} as const;

export const complete = {
  name: 'complete',
  sha1: '19c2d568cd3c019e4882e3cdcdc9e59b5b75c5ef',
  keys: ['job'],
  args: ['base', 'jobId', 'keySpaceId', 'result', 'eventsPerJob', 'retentionMs'],
  rest: null,
  text: `local job = KEYS[1]
local base, jobId, keySpaceId, result, eventsPerJob, retentionMs = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local function nowMs()
  local time = redis.call('TIME')
  local ms = math.floor(time[2] / 1000)
  return time[1] * 1000.0 + ms, time[1] .. string.format('%03d', ms), time[2]
end
local function isTooLate(now, deadline)
  return deadline ~= '' and now > tonumber(deadline)
end
local function digits(number)
  if number < 1e8 or number > 2 ^ 53 then return string.format('%.0f', number) end
  local low = number % 1e8
  return string.format('%d%08d', (number - low) / 1e8, low)
end
local function stored(value)
  return type(value) == 'string' and value or nil
end
local function loadJob(key, base, id, ...)
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
end
local function refuse(job, keySpaceId)
  if not job.status then return 'JOB_NOT_FOUND' end
  if keySpaceId ~= '' and keySpaceId ~= job.space then return 'FORBIDDEN' end
end
local function moveStatus(job, to)
  local index = job.base .. 'space:' .. job.space .. '/status/'
  redis.call('ZREM', index .. job.status, job.id)
  redis.call('ZADD', index .. to, job.order, job.id)
end
local function impliedEntries(key, status)
  if status ~= 'delivered' and status ~= 'running' and status ~= 'completed' then return {} end
  local v = redis.call('HMGET', key, 'deliveredAt', 'startedAt', 'updatedAt')
  for i = 1, 3 do v[i] = stored(v[i]) or '0' end -- a damaged record must not stop what is done with its job; fsck names it
  local delivered = '["delivered",' .. v[1] .. ']'
  if status == 'delivered' then return { delivered } end
  local acked = '["acked",' .. v[2] .. ']'
  if status == 'running' then return { delivered, acked } end
  return { delivered, acked, '["completed",' .. v[3] .. ']' }
end
local function quote(text)
  if not string.find(text, '[%c"\\\\]') then return '"' .. text .. '"' end -- as good as always
  return '"' .. string.gsub(text, '[%c"\\\\]', function(c) return string.format('\\\\u%04x', string.byte(c)) end) .. '"'
end
local function publish(job, seq, type, status, at, data)
  local message = '{"seq":' .. seq .. ',"jobId":"' .. job.id .. '","jobName":' .. quote(job.name) .. ',"spaceId":"' .. job.space
    .. '","type":"' .. type .. '","status":"' .. status .. '","data":' .. data .. ',"at":' .. at .. '}'
  redis.call('PUBLISH', job.base .. 'stream:job:' .. job.id, message)
  redis.call('PUBLISH', job.base .. 'stream:space:' .. job.space, message)
end
local function append(job, at, type, data, eventsPerJob)
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
end
local function record(job, at, type, status, data, eventsPerJob, ...)
  local seq = append(job, at, type, data, eventsPerJob)
  redis.call('HSET', job.key, 'status', status, 'updatedAt', at, ...)
  publish(job, seq, type, status, at, data)
end
local function owe(job, now)
  redis.call('ZADD', job.base .. 'callbacks', digits(now), job.id)
  redis.call('PUBLISH', job.base .. 'owed', '1')
end
local function retain(job, now, retentionMs)
  if tonumber(retentionMs) > 0 then
    redis.call('ZADD', job.base .. 'deadlines', digits(now + tonumber(retentionMs)), job.id)
  else
    redis.call('ZREM', job.base .. 'deadlines', job.id)
  end
end
local found, callbackUrl = loadJob(job, base, jobId, 'callbackUrl')
local refusal = refuse(found, keySpaceId)
if refusal then return { refusal } end
if found.status ~= 'running' then return { 'JOB_NOT_RUNNING', found.status } end
local now, at = nowMs()
moveStatus(found, 'completed')
retain(found, now, retentionMs)
if stored(callbackUrl) then owe(found, now) end
record(found, at, 'completed', 'completed', result, eventsPerJob, 'result', result)
return { 'OK' }
`,
} as const;

export const count_names = {
  name: 'count_names',
  sha1: '1e2aef367e1d43184e1e9f9d1a6c4bf9fca0099a',
  keys: ['jobs'],
  args: ['base', 'afterOrder', 'limit'],
  rest: null,
  text: `local jobs = KEYS[1]
local base, afterOrder, limit = ARGV[1], ARGV[2], ARGV[3]
local function stored(value)
  return type(value) == 'string' and value or nil
end
local function loadJob(key, base, id, ...)
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
end
local function refuse(job, keySpaceId)
  if not job.status then return 'JOB_NOT_FOUND' end
  if keySpaceId ~= '' and keySpaceId ~= job.space then return 'FORBIDDEN' end
end
local page = redis.call('ZRANGEBYSCORE', jobs, '(' .. afterOrder, '+inf', 'WITHSCORES', 'LIMIT', 0, limit)
local names = {}
for i = 1, #page, 2 do names[#names + 1] = stored(redis.call('HGET', base .. 'job:' .. page[i], 'name')) or '' end
return { 'OK', #names, page[#page] or afterOrder, { unpack(names) } } -- a constructor, see list.lua
`,
} as const;

export const create = {
  name: 'create',
  sha1: 'b18a769d94ff757489d10c77b641f128b34d423a',
  keys: ['job'],
  args: ['base', 'jobId', 'space', 'name', 'deadline'],
  rest: 'fields',
  text: `local job = KEYS[1]
local base, jobId, space, name, deadline = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local fields = { unpack(ARGV, 6) }
local function nowMs()
  local time = redis.call('TIME')
  local ms = math.floor(time[2] / 1000)
  return time[1] * 1000.0 + ms, time[1] .. string.format('%03d', ms), time[2]
end
local function isTooLate(now, deadline)
  return deadline ~= '' and now > tonumber(deadline)
end
local function digits(number)
  if number < 1e8 or number > 2 ^ 53 then return string.format('%.0f', number) end
  local low = number % 1e8
  return string.format('%d%08d', (number - low) / 1e8, low)
end
local function nextOrder(base, space, moment)
  local spaces, order = base .. 'spaces', digits(moment)
  if redis.pcall('ZADD', spaces, 'CH', 'GT', order, space) == 1 then return order end
  local last = tonumber(redis.call('ZSCORE', spaces, space) or 0)
  order = digits(math.max(last + 1, moment))
  redis.call('ZADD', spaces, order, space)
  return order
end
local function enqueue(job, order)
  local queue = job.base .. 'space:' .. job.space .. '/queue'
  redis.call('ZADD', queue, order, job.id)
  redis.call('ZADD', queue .. '/' .. job.name, order, job.id)
end
local function dequeue(job)
  local queue = job.base .. 'space:' .. job.space .. '/queue'
  redis.call('ZREM', queue, job.id)
  redis.call('ZREM', queue .. '/' .. job.name, job.id)
end
local function quote(text)
  if not string.find(text, '[%c"\\\\]') then return '"' .. text .. '"' end -- as good as always
  return '"' .. string.gsub(text, '[%c"\\\\]', function(c) return string.format('\\\\u%04x', string.byte(c)) end) .. '"'
end
local function publish(job, seq, type, status, at, data)
  local message = '{"seq":' .. seq .. ',"jobId":"' .. job.id .. '","jobName":' .. quote(job.name) .. ',"spaceId":"' .. job.space
    .. '","type":"' .. type .. '","status":"' .. status .. '","data":' .. data .. ',"at":' .. at .. '}'
  redis.call('PUBLISH', job.base .. 'stream:job:' .. job.id, message)
  redis.call('PUBLISH', job.base .. 'stream:space:' .. job.space, message)
end
local now, at, micros = nowMs()
if isTooLate(now, deadline) then return { 'TOO_LATE' } end
local moment = now * 1024 + math.floor(micros % 1000 * 1.024)
local order = nextOrder(base, space, moment)
local created = { key = job, base = base, id = jobId, space = space, name = name }
redis.call('HSET', job, 'status', 'pending', 'space', space, 'name', name, 'order', order, unpack(fields))
redis.call('ZADD', base .. 'space:' .. space .. '/jobs', order, jobId)
redis.call('ZADD', base .. 'space:' .. space .. '/status/pending', order, jobId)
redis.call('ZINCRBY', base .. 'space:' .. space .. '/names', '1', name) -- a number would be printed, which takes its time
enqueue(created, order)
publish(created, '1', 'created', 'pending', digits(math.floor(order / 1024)), 'null')
return { 'OK', order }
`,
} as const;

export const expire = {
  name: 'expire',
  sha1: '528a43586f31c68c513147d40977bb5b63ef5ead',
  keys: ['deadlines'],
  args: ['base', 'limit', 'maxDeliveries', 'eventsPerJob', 'retentionMs', 'deliveryTimeoutMs', 'dueBefore'],
  rest: null,
  text: `local deadlines = KEYS[1]
local base, limit, maxDeliveries, eventsPerJob, retentionMs, deliveryTimeoutMs, dueBefore = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7]
local function nowMs()
  local time = redis.call('TIME')
  local ms = math.floor(time[2] / 1000)
  return time[1] * 1000.0 + ms, time[1] .. string.format('%03d', ms), time[2]
end
local function isTooLate(now, deadline)
  return deadline ~= '' and now > tonumber(deadline)
end
local function digits(number)
  if number < 1e8 or number > 2 ^ 53 then return string.format('%.0f', number) end
  local low = number % 1e8
  return string.format('%d%08d', (number - low) / 1e8, low)
end
local function nextOrder(base, space, moment)
  local spaces, order = base .. 'spaces', digits(moment)
  if redis.pcall('ZADD', spaces, 'CH', 'GT', order, space) == 1 then return order end
  local last = tonumber(redis.call('ZSCORE', spaces, space) or 0)
  order = digits(math.max(last + 1, moment))
  redis.call('ZADD', spaces, order, space)
  return order
end
local function stored(value)
  return type(value) == 'string' and value or nil
end
local function loadJob(key, base, id, ...)
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
end
local function refuse(job, keySpaceId)
  if not job.status then return 'JOB_NOT_FOUND' end
  if keySpaceId ~= '' and keySpaceId ~= job.space then return 'FORBIDDEN' end
end
local function moveStatus(job, to)
  local index = job.base .. 'space:' .. job.space .. '/status/'
  redis.call('ZREM', index .. job.status, job.id)
  redis.call('ZADD', index .. to, job.order, job.id)
end
local function enqueue(job, order)
  local queue = job.base .. 'space:' .. job.space .. '/queue'
  redis.call('ZADD', queue, order, job.id)
  redis.call('ZADD', queue .. '/' .. job.name, order, job.id)
end
local function dequeue(job)
  local queue = job.base .. 'space:' .. job.space .. '/queue'
  redis.call('ZREM', queue, job.id)
  redis.call('ZREM', queue .. '/' .. job.name, job.id)
end
local function impliedEntries(key, status)
  if status ~= 'delivered' and status ~= 'running' and status ~= 'completed' then return {} end
  local v = redis.call('HMGET', key, 'deliveredAt', 'startedAt', 'updatedAt')
  for i = 1, 3 do v[i] = stored(v[i]) or '0' end -- a damaged record must not stop what is done with its job; fsck names it
  local delivered = '["delivered",' .. v[1] .. ']'
  if status == 'delivered' then return { delivered } end
  local acked = '["acked",' .. v[2] .. ']'
  if status == 'running' then return { delivered, acked } end
  return { delivered, acked, '["completed",' .. v[3] .. ']' }
end
local function quote(text)
  if not string.find(text, '[%c"\\\\]') then return '"' .. text .. '"' end -- as good as always
  return '"' .. string.gsub(text, '[%c"\\\\]', function(c) return string.format('\\\\u%04x', string.byte(c)) end) .. '"'
end
local function publish(job, seq, type, status, at, data)
  local message = '{"seq":' .. seq .. ',"jobId":"' .. job.id .. '","jobName":' .. quote(job.name) .. ',"spaceId":"' .. job.space
    .. '","type":"' .. type .. '","status":"' .. status .. '","data":' .. data .. ',"at":' .. at .. '}'
  redis.call('PUBLISH', job.base .. 'stream:job:' .. job.id, message)
  redis.call('PUBLISH', job.base .. 'stream:space:' .. job.space, message)
end
local function append(job, at, type, data, eventsPerJob)
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
end
local function record(job, at, type, status, data, eventsPerJob, ...)
  local seq = append(job, at, type, data, eventsPerJob)
  redis.call('HSET', job.key, 'status', status, 'updatedAt', at, ...)
  publish(job, seq, type, status, at, data)
end
local function owe(job, now)
  redis.call('ZADD', job.base .. 'callbacks', digits(now), job.id)
  redis.call('PUBLISH', job.base .. 'owed', '1')
end
local function retain(job, now, retentionMs)
  if tonumber(retentionMs) > 0 then
    redis.call('ZADD', job.base .. 'deadlines', digits(now + tonumber(retentionMs)), job.id)
  else
    redis.call('ZREM', job.base .. 'deadlines', job.id)
  end
end
local function die(job, now, failure, eventsPerJob, retentionMs, ...)
  moveStatus(job, 'dead')
  retain(job, now, retentionMs)
  if redis.call('HEXISTS', job.key, 'callbackUrl') == 1 then owe(job, now) end
  record(job, digits(now), 'dead', 'dead', '{"error":' .. failure .. '}', eventsPerJob, 'error', failure, ...)
end
local function takeBack(job, at, type, data, eventsPerJob, ...)
  local seq = append(job, at, type, data, eventsPerJob)
  redis.call('HSET', job.key, 'status', 'pending', 'updatedAt', at, ...)
  redis.call('HDEL', job.key, 'deliveredAt', 'startedAt')
  publish(job, seq, type, 'pending', at, data)
end
local function expireDelivery(job, timeouts, now, maxDeliveries, eventsPerJob, retentionMs)
  local count = tonumber(stored(timeouts) or 0) + 1
  if count >= tonumber(maxDeliveries) then
    local failure = '"Job was delivered ' .. maxDeliveries .. ' times and never acknowledged"'
    die(job, now, failure, eventsPerJob, retentionMs, 'deliveryTimeouts', digits(count))
    return 'dead'
  end
  moveStatus(job, 'pending')
  enqueue(job, job.order)
  redis.call('ZREM', job.base .. 'deadlines', job.id)
  takeBack(job, digits(now), 'delivery_timeout', 'null', eventsPerJob, 'deliveryTimeouts', digits(count))
  return 'pending'
end
local function failAttempt(job, now, failure, eventsPerJob, retentionMs)
  if tonumber(job.attempt) <= tonumber(job.maxRetries) then
    moveStatus(job, 'pending')
    enqueue(job, nextOrder(job.base, job.space, now * 1024))
    redis.call('ZREM', job.base .. 'deadlines', job.id)
    local data = '{"error":' .. failure .. ',"attemptNumber":' .. job.attempt .. '}'
    takeBack(job, digits(now), 'retried', data, eventsPerJob)
    return 'pending'
  else
    die(job, now, failure, eventsPerJob, retentionMs)
    return 'dead'
  end
end
local function purge(job, now)
  if redis.call('ZSCORE', job.base .. 'callbacks', job.id) then
    redis.call('ZREM', job.base .. 'deadlines', job.id)
    redis.call('ZADD', job.base .. 'deadlines', digits(now + 60000), job.id)
    return false
  end
  local space = job.base .. 'space:' .. job.space
  redis.call('ZREM', job.base .. 'deadlines', job.id)
  redis.call('ZREM', space .. '/jobs', job.id)
  redis.call('ZREM', space .. '/status/' .. job.status, job.id)
  if tonumber(redis.call('ZINCRBY', space .. '/names', -1, job.name)) <= 0 then redis.call('ZREM', space .. '/names', job.name) end
  redis.call('UNLINK', job.key, job.key .. ':events', job.key .. ':logs')
  if redis.call('ZCARD', space .. '/jobs') == 0 then redis.call('ZREM', job.base .. 'spaces', job.space) end
  return true
end
local function windowOf(job, deliveryTimeoutMs)
  if job.status == 'delivered' then return tonumber(deliveryTimeoutMs) end
  return math.ceil(tonumber(job.timeoutSeconds) * 1000)
end
local function reopenWindow(job, now, windowMs)
  redis.call('ZREM', job.base .. 'deadlines', job.id)
  redis.call('ZADD', job.base .. 'deadlines', digits(now + windowMs), job.id)
end
local function lastStep(base, now)
  local at = tonumber(stored(redis.call('GET', base .. 'stepped')) or 0)
  return at <= now and at or 0
end
local function reopenIfCutShort(job, due, steppedAt, now, deliveryTimeoutMs)
  if steppedAt == 0 or (job.status ~= 'delivered' and job.status ~= 'running') then return false end
  local windowMs = windowOf(job, deliveryTimeoutMs)
  if due - windowMs >= steppedAt then return false end
  reopenWindow(job, now, windowMs)
  return true
end
local now = nowMs()
local DELIVERED = { pending = 1, dead = 2 }
local FAILED = { pending = 3, dead = 4 }
local PURGED = { completed = 5, dead = 6, killed = 7 }
local REOPENED = 8
local steppedAt = lastStep(base, now)
local function meet(id, due)
  local found, timeouts = loadJob(base .. 'job:' .. id, base, id, 'deliveryTimeouts')
  if reopenIfCutShort(found, due, steppedAt, now, deliveryTimeoutMs) then return REOPENED end
  if found.status == 'delivered' then
    return DELIVERED[expireDelivery(found, timeouts, now, maxDeliveries, eventsPerJob, retentionMs)]
  elseif found.status == 'running' then
    local failure = '"Job timed out after ' .. found.timeoutSeconds .. ' seconds without a heartbeat"'
    return FAILED[failAttempt(found, now, failure, eventsPerJob, retentionMs)]
  elseif found.status and found.status ~= 'pending' then
    return purge(found, now) and PURGED[found.status]
  end
  redis.call('ZREM', deadlines, id) -- no record, or nothing to wait for
end
local before = digits(math.min(now, tonumber(dueBefore)))
local due = redis.call('ZRANGEBYSCORE', deadlines, '-inf', '(' .. before, 'WITHSCORES', 'LIMIT', 0, limit)
local counts, broken, late = { 0, 0, 0, 0, 0, 0, 0, 0 }, {}, nil
for i = 1, #due, 2 do
  local ok, count = pcall(meet, due[i], tonumber(due[i + 1]))
  if count ~= REOPENED then late = late or now - tonumber(due[i + 1]) end
  if ok and count then
    counts[count] = counts[count] + 1
  elseif not ok then
    redis.call('ZREM', deadlines, due[i])
    redis.call('ZADD', deadlines, digits(now + 60000), due[i])
    broken[#broken + 1] = due[i]
  end
end
return { 'OK', #due / 2, { unpack(counts) }, late or 0, { unpack(broken) } }
`,
} as const;

export const fail = {
  name: 'fail',
  sha1: '431896979338dd18d591a71e33f71c4d41d72eab',
  keys: ['job'],
  args: ['base', 'jobId', 'keySpaceId', 'failure', 'eventsPerJob', 'retentionMs'],
  rest: null,
  text: `local job = KEYS[1]
local base, jobId, keySpaceId, failure, eventsPerJob, retentionMs = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local function nowMs()
  local time = redis.call('TIME')
  local ms = math.floor(time[2] / 1000)
  return time[1] * 1000.0 + ms, time[1] .. string.format('%03d', ms), time[2]
end
local function isTooLate(now, deadline)
  return deadline ~= '' and now > tonumber(deadline)
end
local function digits(number)
  if number < 1e8 or number > 2 ^ 53 then return string.format('%.0f', number) end
  local low = number % 1e8
  return string.format('%d%08d', (number - low) / 1e8, low)
end
local function nextOrder(base, space, moment)
  local spaces, order = base .. 'spaces', digits(moment)
  if redis.pcall('ZADD', spaces, 'CH', 'GT', order, space) == 1 then return order end
  local last = tonumber(redis.call('ZSCORE', spaces, space) or 0)
  order = digits(math.max(last + 1, moment))
  redis.call('ZADD', spaces, order, space)
  return order
end
local function stored(value)
  return type(value) == 'string' and value or nil
end
local function loadJob(key, base, id, ...)
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
end
local function refuse(job, keySpaceId)
  if not job.status then return 'JOB_NOT_FOUND' end
  if keySpaceId ~= '' and keySpaceId ~= job.space then return 'FORBIDDEN' end
end
local function moveStatus(job, to)
  local index = job.base .. 'space:' .. job.space .. '/status/'
  redis.call('ZREM', index .. job.status, job.id)
  redis.call('ZADD', index .. to, job.order, job.id)
end
local function enqueue(job, order)
  local queue = job.base .. 'space:' .. job.space .. '/queue'
  redis.call('ZADD', queue, order, job.id)
  redis.call('ZADD', queue .. '/' .. job.name, order, job.id)
end
local function dequeue(job)
  local queue = job.base .. 'space:' .. job.space .. '/queue'
  redis.call('ZREM', queue, job.id)
  redis.call('ZREM', queue .. '/' .. job.name, job.id)
end
local function impliedEntries(key, status)
  if status ~= 'delivered' and status ~= 'running' and status ~= 'completed' then return {} end
  local v = redis.call('HMGET', key, 'deliveredAt', 'startedAt', 'updatedAt')
  for i = 1, 3 do v[i] = stored(v[i]) or '0' end -- a damaged record must not stop what is done with its job; fsck names it
  local delivered = '["delivered",' .. v[1] .. ']'
  if status == 'delivered' then return { delivered } end
  local acked = '["acked",' .. v[2] .. ']'
  if status == 'running' then return { delivered, acked } end
  return { delivered, acked, '["completed",' .. v[3] .. ']' }
end
local function quote(text)
  if not string.find(text, '[%c"\\\\]') then return '"' .. text .. '"' end -- as good as always
  return '"' .. string.gsub(text, '[%c"\\\\]', function(c) return string.format('\\\\u%04x', string.byte(c)) end) .. '"'
end
local function publish(job, seq, type, status, at, data)
  local message = '{"seq":' .. seq .. ',"jobId":"' .. job.id .. '","jobName":' .. quote(job.name) .. ',"spaceId":"' .. job.space
    .. '","type":"' .. type .. '","status":"' .. status .. '","data":' .. data .. ',"at":' .. at .. '}'
  redis.call('PUBLISH', job.base .. 'stream:job:' .. job.id, message)
  redis.call('PUBLISH', job.base .. 'stream:space:' .. job.space, message)
end
local function append(job, at, type, data, eventsPerJob)
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
end
local function record(job, at, type, status, data, eventsPerJob, ...)
  local seq = append(job, at, type, data, eventsPerJob)
  redis.call('HSET', job.key, 'status', status, 'updatedAt', at, ...)
  publish(job, seq, type, status, at, data)
end
local function owe(job, now)
  redis.call('ZADD', job.base .. 'callbacks', digits(now), job.id)
  redis.call('PUBLISH', job.base .. 'owed', '1')
end
local function retain(job, now, retentionMs)
  if tonumber(retentionMs) > 0 then
    redis.call('ZADD', job.base .. 'deadlines', digits(now + tonumber(retentionMs)), job.id)
  else
    redis.call('ZREM', job.base .. 'deadlines', job.id)
  end
end
local function die(job, now, failure, eventsPerJob, retentionMs, ...)
  moveStatus(job, 'dead')
  retain(job, now, retentionMs)
  if redis.call('HEXISTS', job.key, 'callbackUrl') == 1 then owe(job, now) end
  record(job, digits(now), 'dead', 'dead', '{"error":' .. failure .. '}', eventsPerJob, 'error', failure, ...)
end
local function takeBack(job, at, type, data, eventsPerJob, ...)
  local seq = append(job, at, type, data, eventsPerJob)
  redis.call('HSET', job.key, 'status', 'pending', 'updatedAt', at, ...)
  redis.call('HDEL', job.key, 'deliveredAt', 'startedAt')
  publish(job, seq, type, 'pending', at, data)
end
local function failAttempt(job, now, failure, eventsPerJob, retentionMs)
  if tonumber(job.attempt) <= tonumber(job.maxRetries) then
    moveStatus(job, 'pending')
    enqueue(job, nextOrder(job.base, job.space, now * 1024))
    redis.call('ZREM', job.base .. 'deadlines', job.id)
    local data = '{"error":' .. failure .. ',"attemptNumber":' .. job.attempt .. '}'
    takeBack(job, digits(now), 'retried', data, eventsPerJob)
    return 'pending'
  else
    die(job, now, failure, eventsPerJob, retentionMs)
    return 'dead'
  end
end
local found = loadJob(job, base, jobId)
local refusal = refuse(found, keySpaceId)
if refusal then return { refusal } end
if found.status ~= 'running' then return { 'JOB_NOT_RUNNING', found.status } end
return { 'OK', failAttempt(found, nowMs(), failure, eventsPerJob, retentionMs) }
`,
} as const;

export const get = {
  name: 'get',
  sha1: '6892365e64a39793438895c740fc7973f28b5819',
  keys: ['job'],
  args: ['keySpaceId', 'portion', 'budget'],
  rest: null,
  text: `local job = KEYS[1]
local keySpaceId, portion, budget = ARGV[1], ARGV[2], ARGV[3]
local function stored(value)
  return type(value) == 'string' and value or nil
end
local function loadJob(key, base, id, ...)
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
end
local function refuse(job, keySpaceId)
  if not job.status then return 'JOB_NOT_FOUND' end
  if keySpaceId ~= '' and keySpaceId ~= job.space then return 'FORBIDDEN' end
end
local function impliedEntries(key, status)
  if status ~= 'delivered' and status ~= 'running' and status ~= 'completed' then return {} end
  local v = redis.call('HMGET', key, 'deliveredAt', 'startedAt', 'updatedAt')
  for i = 1, 3 do v[i] = stored(v[i]) or '0' end -- a damaged record must not stop what is done with its job; fsck names it
  local delivered = '["delivered",' .. v[1] .. ']'
  if status == 'delivered' then return { delivered } end
  local acked = '["acked",' .. v[2] .. ']'
  if status == 'running' then return { delivered, acked } end
  return { delivered, acked, '["completed",' .. v[3] .. ']' }
end
local v = redis.call('HMGET', job, 'space', 'status')
local space = stored(v[1])
if not space then return { 'JOB_NOT_FOUND' } end
if keySpaceId ~= '' and keySpaceId ~= space then return { 'FORBIDDEN' } end
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
return { 'OK', redis.call('HGETALL', job), { unpack(events) }, length } -- a constructor, see list.lua
`,
} as const;

export const heartbeat = {
  name: 'heartbeat',
  sha1: '433364c91bf0778e2cadc0e872a1ed7857a0e1b1',
  keys: ['job'],
  args: ['base', 'jobId', 'keySpaceId', 'kind', 'data', 'eventsPerJob'],
  rest: null,
  text: `local job = KEYS[1]
local base, jobId, keySpaceId, kind, data, eventsPerJob = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local function nowMs()
  local time = redis.call('TIME')
  local ms = math.floor(time[2] / 1000)
  return time[1] * 1000.0 + ms, time[1] .. string.format('%03d', ms), time[2]
end
local function isTooLate(now, deadline)
  return deadline ~= '' and now > tonumber(deadline)
end
local function digits(number)
  if number < 1e8 or number > 2 ^ 53 then return string.format('%.0f', number) end
  local low = number % 1e8
  return string.format('%d%08d', (number - low) / 1e8, low)
end
local function stored(value)
  return type(value) == 'string' and value or nil
end
local function loadJob(key, base, id, ...)
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
end
local function refuse(job, keySpaceId)
  if not job.status then return 'JOB_NOT_FOUND' end
  if keySpaceId ~= '' and keySpaceId ~= job.space then return 'FORBIDDEN' end
end
local function impliedEntries(key, status)
  if status ~= 'delivered' and status ~= 'running' and status ~= 'completed' then return {} end
  local v = redis.call('HMGET', key, 'deliveredAt', 'startedAt', 'updatedAt')
  for i = 1, 3 do v[i] = stored(v[i]) or '0' end -- a damaged record must not stop what is done with its job; fsck names it
  local delivered = '["delivered",' .. v[1] .. ']'
  if status == 'delivered' then return { delivered } end
  local acked = '["acked",' .. v[2] .. ']'
  if status == 'running' then return { delivered, acked } end
  return { delivered, acked, '["completed",' .. v[3] .. ']' }
end
local function quote(text)
  if not string.find(text, '[%c"\\\\]') then return '"' .. text .. '"' end -- as good as always
  return '"' .. string.gsub(text, '[%c"\\\\]', function(c) return string.format('\\\\u%04x', string.byte(c)) end) .. '"'
end
local function publish(job, seq, type, status, at, data)
  local message = '{"seq":' .. seq .. ',"jobId":"' .. job.id .. '","jobName":' .. quote(job.name) .. ',"spaceId":"' .. job.space
    .. '","type":"' .. type .. '","status":"' .. status .. '","data":' .. data .. ',"at":' .. at .. '}'
  redis.call('PUBLISH', job.base .. 'stream:job:' .. job.id, message)
  redis.call('PUBLISH', job.base .. 'stream:space:' .. job.space, message)
end
local function append(job, at, type, data, eventsPerJob)
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
end
local function record(job, at, type, status, data, eventsPerJob, ...)
  local seq = append(job, at, type, data, eventsPerJob)
  redis.call('HSET', job.key, 'status', status, 'updatedAt', at, ...)
  publish(job, seq, type, status, at, data)
end
local function openWindow(job, now)
  local closes = now + math.ceil(tonumber(job.timeoutSeconds) * 1000)
  redis.call('ZADD', job.base .. 'deadlines', digits(closes), job.id)
end
local found = loadJob(job, base, jobId)
local refusal = refuse(found, keySpaceId)
if refusal then return { refusal } end
if found.status == 'killed' then return { 'JOB_KILLED', 'killed' } end
if found.status ~= 'running' then return { 'JOB_NOT_RUNNING', found.status } end
local now, at = nowMs()
local refused = redis.pcall('HSET', job, 'updatedAt', at)
local isFull = type(refused) == 'table' and refused.err ~= nil
redis.call('ZREM', base .. 'deadlines', jobId)
openWindow(found, now)
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

export const history = {
  name: 'history',
  sha1: '83e0d109e20a0ddd51c1e0e1731602fa1a386073',
  keys: ['job'],
  args: ['fromSeq', 'portion'],
  rest: null,
  text: `local job = KEYS[1]
local fromSeq, portion = ARGV[1], ARGV[2]
local dropped = tonumber(redis.call('HGET', job, 'eventsDropped') or 0)
local first = math.max(0, tonumber(fromSeq) - 2 - dropped) -- event 1 is \`created\`, which is not in the list
local events = redis.call('LRANGE', job .. ':events', first, first + tonumber(portion) - 1)
return { 'OK', first + 2 + dropped, events }
`,
} as const;

export const kill = {
  name: 'kill',
  sha1: 'b296ed8852ab367bb9e76dba46e7e2ebba09afbd',
  keys: ['job'],
  args: ['base', 'jobId', 'keySpaceId', 'reason', 'eventsPerJob', 'retentionMs'],
  rest: null,
  text: `local job = KEYS[1]
local base, jobId, keySpaceId, reason, eventsPerJob, retentionMs = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local function nowMs()
  local time = redis.call('TIME')
  local ms = math.floor(time[2] / 1000)
  return time[1] * 1000.0 + ms, time[1] .. string.format('%03d', ms), time[2]
end
local function isTooLate(now, deadline)
  return deadline ~= '' and now > tonumber(deadline)
end
local function digits(number)
  if number < 1e8 or number > 2 ^ 53 then return string.format('%.0f', number) end
  local low = number % 1e8
  return string.format('%d%08d', (number - low) / 1e8, low)
end
local function stored(value)
  return type(value) == 'string' and value or nil
end
local function loadJob(key, base, id, ...)
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
end
local function refuse(job, keySpaceId)
  if not job.status then return 'JOB_NOT_FOUND' end
  if keySpaceId ~= '' and keySpaceId ~= job.space then return 'FORBIDDEN' end
end
local function moveStatus(job, to)
  local index = job.base .. 'space:' .. job.space .. '/status/'
  redis.call('ZREM', index .. job.status, job.id)
  redis.call('ZADD', index .. to, job.order, job.id)
end
local function enqueue(job, order)
  local queue = job.base .. 'space:' .. job.space .. '/queue'
  redis.call('ZADD', queue, order, job.id)
  redis.call('ZADD', queue .. '/' .. job.name, order, job.id)
end
local function dequeue(job)
  local queue = job.base .. 'space:' .. job.space .. '/queue'
  redis.call('ZREM', queue, job.id)
  redis.call('ZREM', queue .. '/' .. job.name, job.id)
end
local function impliedEntries(key, status)
  if status ~= 'delivered' and status ~= 'running' and status ~= 'completed' then return {} end
  local v = redis.call('HMGET', key, 'deliveredAt', 'startedAt', 'updatedAt')
  for i = 1, 3 do v[i] = stored(v[i]) or '0' end -- a damaged record must not stop what is done with its job; fsck names it
  local delivered = '["delivered",' .. v[1] .. ']'
  if status == 'delivered' then return { delivered } end
  local acked = '["acked",' .. v[2] .. ']'
  if status == 'running' then return { delivered, acked } end
  return { delivered, acked, '["completed",' .. v[3] .. ']' }
end
local function quote(text)
  if not string.find(text, '[%c"\\\\]') then return '"' .. text .. '"' end -- as good as always
  return '"' .. string.gsub(text, '[%c"\\\\]', function(c) return string.format('\\\\u%04x', string.byte(c)) end) .. '"'
end
local function publish(job, seq, type, status, at, data)
  local message = '{"seq":' .. seq .. ',"jobId":"' .. job.id .. '","jobName":' .. quote(job.name) .. ',"spaceId":"' .. job.space
    .. '","type":"' .. type .. '","status":"' .. status .. '","data":' .. data .. ',"at":' .. at .. '}'
  redis.call('PUBLISH', job.base .. 'stream:job:' .. job.id, message)
  redis.call('PUBLISH', job.base .. 'stream:space:' .. job.space, message)
end
local function append(job, at, type, data, eventsPerJob)
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
end
local function record(job, at, type, status, data, eventsPerJob, ...)
  local seq = append(job, at, type, data, eventsPerJob)
  redis.call('HSET', job.key, 'status', status, 'updatedAt', at, ...)
  publish(job, seq, type, status, at, data)
end
local function retain(job, now, retentionMs)
  if tonumber(retentionMs) > 0 then
    redis.call('ZADD', job.base .. 'deadlines', digits(now + tonumber(retentionMs)), job.id)
  else
    redis.call('ZREM', job.base .. 'deadlines', job.id)
  end
end
local found = loadJob(job, base, jobId)
local refusal = refuse(found, keySpaceId)
if refusal then return { refusal } end
if found.status == 'killed' then return { 'OK', 'killed' } end
if found.status == 'completed' or found.status == 'dead' then return { 'JOB_ENDED', found.status } end
local now, at = nowMs()
if found.status == 'pending' then dequeue(found) end
moveStatus(found, 'killed')
retain(found, now, retentionMs)
record(found, at, 'killed', 'killed', '{"reason":' .. reason .. '}', eventsPerJob)
return { 'OK', found.status }
`,
} as const;

export const list = {
  name: 'list',
  sha1: '3e71aa83c51e1947bff577aac371b50c6ae26bd2',
  keys: ['index'],
  args: ['base', 'offset', 'limit', 'budget'],
  rest: 'fields',
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
    rows[#rows + 1] = { id, values }
    for i = 1, #fields do
      if type(values[i]) == 'string' then bytes = bytes + #values[i] end
    end
  end
end
return { 'OK', looked, #ids - looked, unpack(rows) }
`,
} as const;

export const mark_step = {
  name: 'mark_step',
  sha1: '9d18e0712b61835ca6303b007328f5f59efe163e',
  keys: ['stepped'],
  args: ['lookedAt'],
  rest: null,
  text: `local stepped = KEYS[1]
local lookedAt = ARGV[1]
local function nowMs()
  local time = redis.call('TIME')
  local ms = math.floor(time[2] / 1000)
  return time[1] * 1000.0 + ms, time[1] .. string.format('%03d', ms), time[2]
end
local function isTooLate(now, deadline)
  return deadline ~= '' and now > tonumber(deadline)
end
local function digits(number)
  if number < 1e8 or number > 2 ^ 53 then return string.format('%.0f', number) end
  local low = number % 1e8
  return string.format('%d%08d', (number - low) / 1e8, low)
end
local function stored(value)
  return type(value) == 'string' and value or nil
end
local function loadJob(key, base, id, ...)
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
end
local function refuse(job, keySpaceId)
  if not job.status then return 'JOB_NOT_FOUND' end
  if keySpaceId ~= '' and keySpaceId ~= job.space then return 'FORBIDDEN' end
end
local now, at = nowMs()
local known = tonumber(stored(redis.call('GET', stepped)) or 0)
if known > tonumber(lookedAt) and known <= now then return { 'OK', 0 } end
redis.call('DEL', stepped) -- A full Redis lets the rest pass once something was removed.
redis.call('SET', stepped, at)
return { 'OK', 1 }
`,
} as const;

export const poll = {
  name: 'poll',
  sha1: '8803fc4dc067fef7a79f03f7109de44b841eae53',
  keys: ['queue'],
  args: ['base', 'count', 'deliveryTimeoutMs', 'eventsPerJob', 'deadline'],
  rest: 'names',
  text: `local queue = KEYS[1]
local base, count, deliveryTimeoutMs, eventsPerJob, deadline = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local names = { unpack(ARGV, 6) }
local function nowMs()
  local time = redis.call('TIME')
  local ms = math.floor(time[2] / 1000)
  return time[1] * 1000.0 + ms, time[1] .. string.format('%03d', ms), time[2]
end
local function isTooLate(now, deadline)
  return deadline ~= '' and now > tonumber(deadline)
end
local function digits(number)
  if number < 1e8 or number > 2 ^ 53 then return string.format('%.0f', number) end
  local low = number % 1e8
  return string.format('%d%08d', (number - low) / 1e8, low)
end
local function stored(value)
  return type(value) == 'string' and value or nil
end
local function loadJob(key, base, id, ...)
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
end
local function refuse(job, keySpaceId)
  if not job.status then return 'JOB_NOT_FOUND' end
  if keySpaceId ~= '' and keySpaceId ~= job.space then return 'FORBIDDEN' end
end
local function moveStatus(job, to)
  local index = job.base .. 'space:' .. job.space .. '/status/'
  redis.call('ZREM', index .. job.status, job.id)
  redis.call('ZADD', index .. to, job.order, job.id)
end
local function impliedEntries(key, status)
  if status ~= 'delivered' and status ~= 'running' and status ~= 'completed' then return {} end
  local v = redis.call('HMGET', key, 'deliveredAt', 'startedAt', 'updatedAt')
  for i = 1, 3 do v[i] = stored(v[i]) or '0' end -- a damaged record must not stop what is done with its job; fsck names it
  local delivered = '["delivered",' .. v[1] .. ']'
  if status == 'delivered' then return { delivered } end
  local acked = '["acked",' .. v[2] .. ']'
  if status == 'running' then return { delivered, acked } end
  return { delivered, acked, '["completed",' .. v[3] .. ']' }
end
local function quote(text)
  if not string.find(text, '[%c"\\\\]') then return '"' .. text .. '"' end -- as good as always
  return '"' .. string.gsub(text, '[%c"\\\\]', function(c) return string.format('\\\\u%04x', string.byte(c)) end) .. '"'
end
local function publish(job, seq, type, status, at, data)
  local message = '{"seq":' .. seq .. ',"jobId":"' .. job.id .. '","jobName":' .. quote(job.name) .. ',"spaceId":"' .. job.space
    .. '","type":"' .. type .. '","status":"' .. status .. '","data":' .. data .. ',"at":' .. at .. '}'
  redis.call('PUBLISH', job.base .. 'stream:job:' .. job.id, message)
  redis.call('PUBLISH', job.base .. 'stream:space:' .. job.space, message)
end
local function append(job, at, type, data, eventsPerJob)
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
end
local function record(job, at, type, status, data, eventsPerJob, ...)
  local seq = append(job, at, type, data, eventsPerJob)
  redis.call('HSET', job.key, 'status', status, 'updatedAt', at, ...)
  publish(job, seq, type, status, at, data)
end
local function deliver(job, now, at, deliveryTimeoutMs, eventsPerJob)
  moveStatus(job, 'delivered')
  redis.call('ZADD', job.base .. 'deadlines', digits(now + deliveryTimeoutMs), job.id)
  record(job, at, 'delivered', 'delivered', 'null', eventsPerJob, 'deliveredAt', at)
end
local function claimedJob(job, payload, checkpoint)
  return { job.id, job.name, job.timeoutSeconds, job.maxRetries, job.attempt, job.order, payload, checkpoint }
end
local function takeFirst(queue)
  return redis.call('ZPOPMIN', queue)[1]
end
local function takingFrom(keys, portion)
  local function look(q)
    if not q.entries or (q.at > #q.entries and #q.entries > 0) then
      q.entries = redis.call('ZRANGE', q.key, 0, portion - 1, 'WITHSCORES')
      q.at = 1
    end
    q.id, q.order = q.entries[q.at], tonumber(q.entries[q.at + 1])
    return q.id
  end
  local queues, taken, place = {}, nil, nil
  for _, key in ipairs(keys) do
    local q = { key = key }
    if look(q) then queues[#queues + 1] = q end
  end
  return function()
    if taken and not look(taken) then table.remove(queues, place) end
    taken, place = queues[1], 1
    for i = 2, #queues do
      if queues[i].order < taken.order then taken, place = queues[i], i end
    end
    if not taken then return nil end
    taken.at = taken.at + 2
    redis.call('ZREM', taken.key, taken.id)
    return taken.id
  end
end
local now, at = nowMs()
if isTooLate(now, deadline) then return { 'TOO_LATE' } end
local wanted = tonumber(count)
local queues = { #names == 0 and queue or nil }
for i, name in ipairs(names) do queues[i] = queue .. '/' .. name end
local takeOldest = #queues > 1 and takingFrom(queues, math.ceil(wanted / #queues))
local claimed = {}
for _ = 1, wanted + 50 do -- 50 to spare for entries without a pending job
  if #claimed == wanted then break end
  local id
  if takeOldest then id = takeOldest() else id = takeFirst(queues[1]) end
  if not id then break end
  local found, payload, checkpoint = loadJob(base .. 'job:' .. id, base, id, 'payload', 'checkpoint')
  if found.status == 'pending' then -- else the entry is gone, and strands the queue no more
    redis.call('ZREM', #names == 0 and queue .. '/' .. found.name or queue, id) -- the other queue that it stands in
    deliver(found, now, at, deliveryTimeoutMs, eventsPerJob)
    claimed[#claimed + 1] = claimedJob(found, payload, checkpoint)
  end
end
return { 'OK', unpack(claimed) } -- a constructor, see list.lua
`,
} as const;

export const read_logs = {
  name: 'read_logs',
  sha1: '5024b3167933df472aa196c154f2929522c8288c',
  keys: ['job'],
  args: ['keySpaceId', 'direction', 'bound', 'most', 'budget'],
  rest: null,
  text: `local job = KEYS[1]
local keySpaceId, direction, bound, most, budget = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local function nowMs()
  local time = redis.call('TIME')
  local ms = math.floor(time[2] / 1000)
  return time[1] * 1000.0 + ms, time[1] .. string.format('%03d', ms), time[2]
end
local function isTooLate(now, deadline)
  return deadline ~= '' and now > tonumber(deadline)
end
local function digits(number)
  if number < 1e8 or number > 2 ^ 53 then return string.format('%.0f', number) end
  local low = number % 1e8
  return string.format('%d%08d', (number - low) / 1e8, low)
end
local function stored(value)
  return type(value) == 'string' and value or nil
end
local function loadJob(key, base, id, ...)
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
end
local function refuse(job, keySpaceId)
  if not job.status then return 'JOB_NOT_FOUND' end
  if keySpaceId ~= '' and keySpaceId ~= job.space then return 'FORBIDDEN' end
end
local v = redis.call('HMGET', job, 'space', 'logsDropped')
local space = stored(v[1])
if not space then return { 'JOB_NOT_FOUND' } end
if keySpaceId ~= '' and keySpaceId ~= space then return { 'FORBIDDEN' } end
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

export const record_callback = {
  name: 'record_callback',
  sha1: 'aaa1ba03bae23b717c5efdd0a961f9b3fdab0026',
  keys: ['job'],
  args: ['base', 'jobId', 'round', 'lease', 'eventType', 'data', 'retryMs', 'againMs', 'eventsPerJob'],
  rest: null,
  text: `local job = KEYS[1]
local base, jobId, round, lease, eventType, data, retryMs, againMs, eventsPerJob = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8], ARGV[9]
local function nowMs()
  local time = redis.call('TIME')
  local ms = math.floor(time[2] / 1000)
  return time[1] * 1000.0 + ms, time[1] .. string.format('%03d', ms), time[2]
end
local function isTooLate(now, deadline)
  return deadline ~= '' and now > tonumber(deadline)
end
local function digits(number)
  if number < 1e8 or number > 2 ^ 53 then return string.format('%.0f', number) end
  local low = number % 1e8
  return string.format('%d%08d', (number - low) / 1e8, low)
end
local function stored(value)
  return type(value) == 'string' and value or nil
end
local function loadJob(key, base, id, ...)
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
end
local function refuse(job, keySpaceId)
  if not job.status then return 'JOB_NOT_FOUND' end
  if keySpaceId ~= '' and keySpaceId ~= job.space then return 'FORBIDDEN' end
end
local function impliedEntries(key, status)
  if status ~= 'delivered' and status ~= 'running' and status ~= 'completed' then return {} end
  local v = redis.call('HMGET', key, 'deliveredAt', 'startedAt', 'updatedAt')
  for i = 1, 3 do v[i] = stored(v[i]) or '0' end -- a damaged record must not stop what is done with its job; fsck names it
  local delivered = '["delivered",' .. v[1] .. ']'
  if status == 'delivered' then return { delivered } end
  local acked = '["acked",' .. v[2] .. ']'
  if status == 'running' then return { delivered, acked } end
  return { delivered, acked, '["completed",' .. v[3] .. ']' }
end
local function quote(text)
  if not string.find(text, '[%c"\\\\]') then return '"' .. text .. '"' end -- as good as always
  return '"' .. string.gsub(text, '[%c"\\\\]', function(c) return string.format('\\\\u%04x', string.byte(c)) end) .. '"'
end
local function publish(job, seq, type, status, at, data)
  local message = '{"seq":' .. seq .. ',"jobId":"' .. job.id .. '","jobName":' .. quote(job.name) .. ',"spaceId":"' .. job.space
    .. '","type":"' .. type .. '","status":"' .. status .. '","data":' .. data .. ',"at":' .. at .. '}'
  redis.call('PUBLISH', job.base .. 'stream:job:' .. job.id, message)
  redis.call('PUBLISH', job.base .. 'stream:space:' .. job.space, message)
end
local function append(job, at, type, data, eventsPerJob)
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
end
local function record(job, at, type, status, data, eventsPerJob, ...)
  local seq = append(job, at, type, data, eventsPerJob)
  redis.call('HSET', job.key, 'status', status, 'updatedAt', at, ...)
  publish(job, seq, type, status, at, data)
end
local function loadCallback(job)
  local hasEnded = job.status == 'completed' or job.status == 'dead'
  if not hasEnded or not redis.call('ZSCORE', job.base .. 'callbacks', job.id) then return nil end
  local v = redis.call('HMGET', job.key, 'callbackAttempts', 'callbackRound', 'callbackDueAt', 'callbackLeasedUntil')
  for i = 1, 4 do v[i] = tonumber(stored(v[i]) or 0) end
  return { attempts = v[1], round = v[2], due = v[3], leasedUntil = v[4] }
end
local function putOff(job, at)
  redis.call('ZREM', job.base .. 'callbacks', job.id)
  redis.call('ZADD', job.base .. 'callbacks', digits(at), job.id)
end
local function owe(job, now)
  redis.call('ZADD', job.base .. 'callbacks', digits(now), job.id)
  redis.call('PUBLISH', job.base .. 'owed', '1')
end
local found = loadJob(job, base, jobId)
local callback = loadCallback(found)
if not callback or digits(callback.leasedUntil) ~= lease then return { 'NOT_OWED' } end
local now, at = nowMs()
if callback.round ~= tonumber(round) then
  putOff(found, now) -- A redelivery was asked for in the meantime: this outcome is not its own.
  owe(found, now)
elseif retryMs == '' then
  redis.call('ZREM', base .. 'callbacks', jobId)
  redis.call('HDEL', job, 'callbackDueAt')
else
  local due = now + tonumber(retryMs)
  putOff(found, due + tonumber(againMs))
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
  name: 'redeliver_callback',
  sha1: 'b5b306abe18c3b8df668ed4c481c6f51429d0ea3',
  keys: ['job'],
  args: ['base', 'jobId', 'keySpaceId'],
  rest: null,
  text: `local job = KEYS[1]
local base, jobId, keySpaceId = ARGV[1], ARGV[2], ARGV[3]
local function nowMs()
  local time = redis.call('TIME')
  local ms = math.floor(time[2] / 1000)
  return time[1] * 1000.0 + ms, time[1] .. string.format('%03d', ms), time[2]
end
local function isTooLate(now, deadline)
  return deadline ~= '' and now > tonumber(deadline)
end
local function digits(number)
  if number < 1e8 or number > 2 ^ 53 then return string.format('%.0f', number) end
  local low = number % 1e8
  return string.format('%d%08d', (number - low) / 1e8, low)
end
local function stored(value)
  return type(value) == 'string' and value or nil
end
local function loadJob(key, base, id, ...)
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
end
local function refuse(job, keySpaceId)
  if not job.status then return 'JOB_NOT_FOUND' end
  if keySpaceId ~= '' and keySpaceId ~= job.space then return 'FORBIDDEN' end
end
local function owe(job, now)
  redis.call('ZADD', job.base .. 'callbacks', digits(now), job.id)
  redis.call('PUBLISH', job.base .. 'owed', '1')
end
local found = loadJob(job, base, jobId)
local refusal = refuse(found, keySpaceId)
if refusal then return { refusal } end
local hasEnded = found.status == 'completed' or found.status == 'dead'
if not hasEnded and found.status ~= 'killed' then return { 'JOB_NOT_ENDED', found.status } end
local v = redis.call('HMGET', job, 'callbackUrl', 'callbackAttempts', 'callbackLeasedUntil')
if not hasEnded or not stored(v[1]) then return { 'NO_CALLBACK', found.status } end
local now, at = nowMs()
local isBeingMade = tonumber(stored(v[3]) or 0) > now
local round = tonumber(stored(v[2]) or 0) + (isBeingMade and 1 or 0)
redis.call('HSET', job, 'callbackRound', digits(round), 'callbackDueAt', at)
if not isBeingMade then redis.call('HDEL', job, 'callbackLeasedUntil') end
owe(found, now)
return { 'OK' }
`,
} as const;

export const relay_callbacks = {
  name: 'relay_callbacks',
  sha1: '332c2ec95d6356de7474327b345e91b7e00db4fe',
  keys: ['callbacks'],
  args: ['base', 'limit', 'againMs', 'atMostMs'],
  rest: null,
  text: `local callbacks = KEYS[1]
local base, limit, againMs, atMostMs = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local function nowMs()
  local time = redis.call('TIME')
  local ms = math.floor(time[2] / 1000)
  return time[1] * 1000.0 + ms, time[1] .. string.format('%03d', ms), time[2]
end
local function isTooLate(now, deadline)
  return deadline ~= '' and now > tonumber(deadline)
end
local function digits(number)
  if number < 1e8 or number > 2 ^ 53 then return string.format('%.0f', number) end
  local low = number % 1e8
  return string.format('%d%08d', (number - low) / 1e8, low)
end
local function stored(value)
  return type(value) == 'string' and value or nil
end
local function loadJob(key, base, id, ...)
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
end
local function refuse(job, keySpaceId)
  if not job.status then return 'JOB_NOT_FOUND' end
  if keySpaceId ~= '' and keySpaceId ~= job.space then return 'FORBIDDEN' end
end
local function loadCallback(job)
  local hasEnded = job.status == 'completed' or job.status == 'dead'
  if not hasEnded or not redis.call('ZSCORE', job.base .. 'callbacks', job.id) then return nil end
  local v = redis.call('HMGET', job.key, 'callbackAttempts', 'callbackRound', 'callbackDueAt', 'callbackLeasedUntil')
  for i = 1, 4 do v[i] = tonumber(stored(v[i]) or 0) end
  return { attempts = v[1], round = v[2], due = v[3], leasedUntil = v[4] }
end
local function putOff(job, at)
  redis.call('ZREM', job.base .. 'callbacks', job.id)
  redis.call('ZADD', job.base .. 'callbacks', digits(at), job.id)
end
local now, at = nowMs()
local due = redis.call('ZRANGEBYSCORE', callbacks, '-inf', at, 'LIMIT', 0, limit)
local owed = {}
for _, id in ipairs(due) do
  local found = loadJob(base .. 'job:' .. id, base, id)
  local callback = loadCallback(found)
  if callback then
    local since = callback.due > 0 and callback.due or tonumber(redis.call('HGET', found.key, 'updatedAt'))
    local waited = now - since
    putOff(found, now + math.min(math.max(waited, tonumber(againMs)), tonumber(atMostMs)))
    owed[#owed + 1] = id
    owed[#owed + 1] = digits(callback.round)
    owed[#owed + 1] = digits(waited)
  else
    redis.call('ZREM', callbacks, id) -- the record is gone, or never owed anything
  end
end
return { 'OK', #due, { unpack(owed) } } -- a constructor, see list.lua
`,
} as const;

export const since = {
  name: 'since',
  sha1: '4c65e6e79769fffa8ce0acf982769f33635b09c0',
  keys: ['job'],
  args: ['fromSeq', 'portion'],
  rest: null,
  text: `local job = KEYS[1]
local fromSeq, portion = ARGV[1], ARGV[2]
local function stored(value)
  return type(value) == 'string' and value or nil
end
local function loadJob(key, base, id, ...)
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
end
local function refuse(job, keySpaceId)
  if not job.status then return 'JOB_NOT_FOUND' end
  if keySpaceId ~= '' and keySpaceId ~= job.space then return 'FORBIDDEN' end
end
local function impliedEntries(key, status)
  if status ~= 'delivered' and status ~= 'running' and status ~= 'completed' then return {} end
  local v = redis.call('HMGET', key, 'deliveredAt', 'startedAt', 'updatedAt')
  for i = 1, 3 do v[i] = stored(v[i]) or '0' end -- a damaged record must not stop what is done with its job; fsck names it
  local delivered = '["delivered",' .. v[1] .. ']'
  if status == 'delivered' then return { delivered } end
  local acked = '["acked",' .. v[2] .. ']'
  if status == 'running' then return { delivered, acked } end
  return { delivered, acked, '["completed",' .. v[3] .. ']' }
end
local v = redis.call('HMGET', job, 'eventsDropped', 'logsDropped', 'status', 'name', 'space', 'result')
if not stored(v[3]) then return { 'JOB_NOT_FOUND' } end
local dropped = tonumber(stored(v[1]) or 0)
local history, logs = job .. ':events', job .. ':logs'
local first = math.max(0, tonumber(fromSeq) - 2 - dropped) -- event 1 is \`created\`, which is not in the list
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
  name: 'snapshot',
  sha1: 'e37aadc3769219a05bbe375a8f47fda2d830bd70',
  keys: ['job'],
  args: ['keySpaceId'],
  rest: null,
  text: `local job = KEYS[1]
local keySpaceId = ARGV[1]
local function nowMs()
  local time = redis.call('TIME')
  local ms = math.floor(time[2] / 1000)
  return time[1] * 1000.0 + ms, time[1] .. string.format('%03d', ms), time[2]
end
local function isTooLate(now, deadline)
  return deadline ~= '' and now > tonumber(deadline)
end
local function digits(number)
  if number < 1e8 or number > 2 ^ 53 then return string.format('%.0f', number) end
  local low = number % 1e8
  return string.format('%d%08d', (number - low) / 1e8, low)
end
local function stored(value)
  return type(value) == 'string' and value or nil
end
local function loadJob(key, base, id, ...)
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
end
local function refuse(job, keySpaceId)
  if not job.status then return 'JOB_NOT_FOUND' end
  if keySpaceId ~= '' and keySpaceId ~= job.space then return 'FORBIDDEN' end
end
local function impliedEntries(key, status)
  if status ~= 'delivered' and status ~= 'running' and status ~= 'completed' then return {} end
  local v = redis.call('HMGET', key, 'deliveredAt', 'startedAt', 'updatedAt')
  for i = 1, 3 do v[i] = stored(v[i]) or '0' end -- a damaged record must not stop what is done with its job; fsck names it
  local delivered = '["delivered",' .. v[1] .. ']'
  if status == 'delivered' then return { delivered } end
  local acked = '["acked",' .. v[2] .. ']'
  if status == 'running' then return { delivered, acked } end
  return { delivered, acked, '["completed",' .. v[3] .. ']' }
end
local v = redis.call('HMGET', job, 'eventsDropped', 'logsDropped', 'status', 'space', 'name', 'updatedAt', 'progress')
if not stored(v[3]) then return { 'JOB_NOT_FOUND' } end
if keySpaceId ~= '' and keySpaceId ~= v[4] then return { 'FORBIDDEN' } end
local length = redis.call('LLEN', job .. ':events')
if length == 0 then length = #impliedEntries(job, v[3]) end
local seq = 1 + tonumber(stored(v[1]) or 0) + length
local logSeq = tonumber(stored(v[2]) or 0) + redis.call('LLEN', job .. ':logs')
return { 'OK', seq, logSeq, digits(nowMs()), v[3], v[4], v[5], v[6], v[7] }
`,
} as const;

export const stats = {
  name: 'stats',
  sha1: 'd5ebcb9fb11e509747a6cba847f80c75a3d2e0a0',
  keys: ['names'],
  args: ['space', 'limit'],
  rest: 'asked',
  text: `local names = KEYS[1]
local space, limit = ARGV[1], ARGV[2]
local asked = { unpack(ARGV, 3) }
local function nowMs()
  local time = redis.call('TIME')
  local ms = math.floor(time[2] / 1000)
  return time[1] * 1000.0 + ms, time[1] .. string.format('%03d', ms), time[2]
end
local function isTooLate(now, deadline)
  return deadline ~= '' and now > tonumber(deadline)
end
local function digits(number)
  if number < 1e8 or number > 2 ^ 53 then return string.format('%.0f', number) end
  local low = number % 1e8
  return string.format('%d%08d', (number - low) / 1e8, low)
end
local function stored(value)
  return type(value) == 'string' and value or nil
end
local function loadJob(key, base, id, ...)
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
end
local function refuse(job, keySpaceId)
  if not job.status then return 'JOB_NOT_FOUND' end
  if keySpaceId ~= '' and keySpaceId ~= job.space then return 'FORBIDDEN' end
end
local function waiting(queue)
  local pending = redis.call('ZCARD', queue)
  return pending, pending > 0 and redis.call('ZRANGE', queue, 0, 0, 'WITHSCORES')[2] or ''
end
local counts = {}
for i, status in ipairs({ 'pending', 'delivered', 'running', 'completed', 'dead', 'killed' }) do
  counts[i] = redis.call('ZCARD', space .. 'status/' .. status)
end
counts[7] = redis.call('ZCARD', space .. 'jobs')
local all, oldest = waiting(space .. 'queue')
local listed = {}
for i, name in ipairs(asked) do
  listed[2 * i - 1], listed[2 * i] = name, stored(redis.call('ZSCORE', names, name)) or '0'
end
if #asked == 0 then listed = redis.call('ZREVRANGE', names, 0, tonumber(limit) - 1, 'WITHSCORES') end
local rows = {}
for i = 1, #listed, 2 do
  local pending, first = 0, ''
  if all > 0 then pending, first = waiting(space .. 'queue/' .. listed[i]) end
  local at = #rows
  rows[at + 1], rows[at + 2], rows[at + 3], rows[at + 4] = listed[i], listed[i + 1], pending, first
end
return { 'OK', digits(nowMs()), { unpack(counts) }, oldest, redis.call('ZCARD', names), { unpack(rows) } } -- see list.lua
`,
} as const;
