-- KEYS record
-- ARGV base id space fingerprint running kept keptMs lowest highest statuses cursor freesMemory fields...
-- REPLY STARTED at:number
-- REPLY REPLAYED
-- ERRORS TOO_MANY_OPERATIONS IDEMPOTENCY_MISMATCH
-- REPLICATED
--
-- Start an operation, unless one was already started with the same idempotency key.
--   fingerprint  fingerprint of the request; '' without an idempotency key
--   running      maximum number of running operations of the space
--   kept         maximum number of operations of the space to keep
--   keptMs       how long to keep an operation after its start
--   lowest, highest   range of the creation order of its jobs; '' for no bound. Jobs created after the start are never included
--   statuses, cursor   see operation.lua
--   freesMemory  '1' for an operation that can start on a full Redis, '' otherwise
--   fields       fields of the record (name, value, …)
local known = redis.call('HGET', record, 'fingerprint')
if redis.call('EXISTS', record) == 1 then
  return { known == fingerprint and fingerprint ~= '' and 'REPLAYED' or 'IDEMPOTENCY_MISMATCH' }
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

if freesMemory ~= '' then redis.call('ZREM', list, id) end -- a full Redis accepts the writes after a removal
local newest = tonumber(redis.call('ZSCORE', base .. 'spaces', space) or 0)
local last = math.min(newest, highest == '' and math.huge or tonumber(highest))
redis.call('HSET', record, 'space', space, 'status', 'running', 'startedAt', nowText, 'statuses', statuses, 'cursor', cursor,
  'lowest', lowest == '' and '-inf' or lowest, 'highest', formatInteger(last), unpack(fields))
if fingerprint ~= '' then redis.call('HSET', record, 'fingerprint', fingerprint) end
redis.call('PEXPIRE', record, keptMs)
redis.call('ZADD', list, nowText, id)
redis.call('PEXPIRE', list, keptMs)
redis.call('ZADD', base .. 'operations', nowText, id)
return { 'STARTED', nowText }
