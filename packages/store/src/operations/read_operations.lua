-- KEYS list
-- ARGV base most ids...
-- REPLY OK records[][]
--
-- Read operations: these, or else the first ones of a list.
--   list      the space's /operations, or the running ones of a partition
--   most      operations of the list at most
--   records   for each: its id, the number of jobs that it has not examined yet, and the fields and values of its record:
--             none when it is gone
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
return { 'OK', records }
