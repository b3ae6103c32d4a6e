-- KEYS index
-- ARGV base offset limit fields...
--
-- Read a page of a space's jobs, newest first, as of one moment.
--   index     the space's /jobs or /status/<status>
--   limit     at most 100
--   fields    of the record
-- Returns {'OK', {id, value, …}, …}; an entry whose record is gone is left out.
local ids = redis.call('ZREVRANGE', index, offset, tonumber(offset) + tonumber(limit) - 1)
local reply = { 'OK' }
for _, id in ipairs(ids) do
  local values = redis.call('HMGET', base .. 'job:' .. id, unpack(fields))
  if values[1] then
    table.insert(values, 1, id)
    reply[#reply + 1] = values
  end
end
return reply
