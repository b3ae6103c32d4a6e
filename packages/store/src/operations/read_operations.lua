-- KEYS list
-- ARGV base most ids...
-- REPLY OK records[][]
--
-- Read operations by ID or, without `ids`, the first ones of a list.
--   list      a space's /operations, or the running operations of a partition
--   most      maximum number of operations to read from the list
--   records   for each operation: its ID, the number of jobs not examined yet, and its record (name, value, …), which is empty if
--             the operation is gone
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
