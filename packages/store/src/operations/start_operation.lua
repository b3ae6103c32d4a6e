-- KEYS record
-- ARGV base id space fingerprint running kept keptMs lowest highest statuses cursor freesMemory fields...
-- REPLY STARTED at:number
-- REPLY REPLAYED
-- ERRORS TOO_MANY_OPERATIONS IDEMPOTENCY_MISMATCH
-- REPLICATED
--
-- Start an operation, unless it was started before with the same idempotency key.
--   fingerprint  of the request, '' without an idempotency key
--   running      operations of the space that may run at once
--   kept         finished operations of the space that are kept at most
--   keptMs       for how long an operation is kept from its start
--   lowest, highest   creation order of its jobs; '' for none. Jobs created later are not part of it
--   statuses, cursor   see operation.lua
--   freesMemory  '1' for an operation that starts on a full Redis, '' otherwise
--   fields       of the record, with their values
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

if freesMemory ~= '' then redis.call('ZREM', list, id) end -- a full Redis lets the rest pass once something was removed
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
