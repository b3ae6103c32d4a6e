-- KEYS index
-- ARGV base offset limit budget fields...
-- REPLY OK examined:number left:number rows?[]...
--
-- Read a page of a space's jobs, newest first, or the start of it when its records are large.
--   index     the space's /jobs or /status/<status>
--   limit     at most 100
--   budget    bytes of records after which to stop, so that one page does not keep Redis busy for long
--   fields    of the record
--   examined  entries checked; `left` of the page were not
--   rows      the id and the fields of each job; an entry whose record is gone is left out
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
-- A table constructor, and not a table that grew: ioredis-mock returns only the former as an array.
return { 'OK', examined, #ids - examined, unpack(rows) }
