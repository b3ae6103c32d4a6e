-- KEYS record
-- ARGV base id keySpaceId
-- REPLY OK space wasRunning:number
-- ERRORS OPERATION_NOT_FOUND FORBIDDEN
-- REPLICATED
--
-- Cancel a running operation. Jobs that it has already changed stay changed.
local space, status, statuses, cursor, highest =
  unpack(redis.call('HMGET', record, 'space', 'status', 'statuses', 'cursor', 'highest'))
if not space then return { 'OPERATION_NOT_FOUND' } end
if keySpaceId ~= '' and keySpaceId ~= space then return { 'FORBIDDEN' } end
if status == 'running' then
  local _, nowText = now()
  endOperation(base, id, 'cancelled', nowText, operationLeft(base .. 'space:' .. space .. '/', statuses, cursor, highest))
end
return { 'OK', space, status == 'running' and 1 or 0 }
