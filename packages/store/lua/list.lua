-- KEYS index
-- ARGV base offset limit fields...
--
-- Read a page of a space's jobs, newest first, as of one moment.
--   index     the space's /jobs or /status/<status>
--   limit     at most 100
--   fields    of the record
-- Returns {'OK', {id, {value, …}}, …}; an entry whose record is gone is left out.
local ids = redis.call('ZREVRANGE', index, offset, tonumber(offset) + tonumber(limit) - 1)
local rows = {}
for _, id in ipairs(ids) do
  local values = redis.call('HMGET', base .. 'job:' .. id, unpack(fields))
  if type(values[1]) == 'string' then
    rows[#rows + 1] = { id, values }
  end
end
-- A table constructor, and not a table that grew: ioredis-mock returns only the former as an array.
return { 'OK', unpack(rows) }
