-- KEYS jobKey
-- ARGV keySpaceId portion budget
-- REPLY OK record[] events[] length:number
-- REPLY LARGE
-- ERRORS JOB_NOT_FOUND FORBIDDEN
--
-- Read a job and the oldest `portion` entries of its history, as of one moment; or only report that they are large.
--   budget    bytes that both may have together; a larger reply is not returned
--   record    field, value, …
--   length    entries of the whole history
local v = redis.call('HMGET', jobKey, 'space', 'status')
local refusal = refusalFor(stored(v[2]), v[1], keySpaceId)
if refusal then return { refusal } end

local left = tonumber(budget)
-- Ask for the sizes of fields that may be large first, so that no large field is copied without need.
for _, field in ipairs({ 'payload', 'result', 'progress', 'checkpoint', 'error', 'callbackHeaders' }) do
  left = left - redis.call('HSTRLEN', jobKey, field)
end

local length = redis.call('LLEN', jobKey .. ':events')
local events = {}
if length == 0 then
  events = impliedEntries(jobKey, v[2])
  length = #events
end
for first = #events, math.min(length, tonumber(portion)) - 1, 20 do
  if left < 0 then break end
  local last = math.min(first + 20, tonumber(portion)) - 1
  for _, entry in ipairs(redis.call('LRANGE', jobKey .. ':events', first, last)) do
    events[#events + 1] = entry
    left = left - #entry
  end
end
if left < 0 then return { 'LARGE' } end
return { 'OK', redis.call('HGETALL', jobKey), { unpack(events) }, length } -- a constructor, see list.lua
