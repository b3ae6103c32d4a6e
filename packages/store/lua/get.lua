-- KEYS job
-- ARGV keySpaceId portion
--
-- Read a job and the oldest `portion` entries of its history, as of one moment.
-- Returns {'OK', {field, value, …}, {event, …}, length of the history}; JOB_NOT_FOUND or FORBIDDEN.
-- @include job implied
local v = redis.call('HMGET', job, 'space', 'status')
local space = stored(v[1])
if not space then return { 'JOB_NOT_FOUND' } end
if keySpaceId ~= '' and keySpaceId ~= space then return { 'FORBIDDEN' } end

local events = redis.call('LRANGE', job .. ':events', 0, tonumber(portion) - 1)
local length = redis.call('LLEN', job .. ':events')
if length == 0 then
  events = impliedEntries(job, v[2])
  length = #events
end
return { 'OK', redis.call('HGETALL', job), { unpack(events) }, length } -- a constructor, see list.lua
