-- KEYS job
-- ARGV keySpaceId portion budget
--
-- Read a job and the oldest `portion` entries of its history, as of one moment; or only say that they are large.
--   budget    bytes that both may have together; what is larger is not returned
-- Returns {'OK', {field, value, …}, {event, …}, length of the history}; {'LARGE'}; JOB_NOT_FOUND or FORBIDDEN.
-- @include job implied
local v = redis.call('HMGET', job, 'space', 'status')
local space = stored(v[1])
if not space then return { 'JOB_NOT_FOUND' } end
if keySpaceId ~= '' and keySpaceId ~= space then return { 'FORBIDDEN' } end

local left = tonumber(budget)
-- The fields that may be large; their sizes are asked for first, so that none is copied in vain.
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
