-- KEYS job
-- ARGV keySpaceId
--
-- Read where a job stands, and the seq of the last event that led there.
-- Returns {'OK', seq, now in ms, status, space, name, updatedAt, progress}, the last two null when there is none;
-- JOB_NOT_FOUND or FORBIDDEN.
-- @include clock
local v = redis.call('HMGET', job, 'eventsDropped', 'status', 'space', 'name', 'updatedAt', 'progress')
if type(v[2]) ~= 'string' then return { 'JOB_NOT_FOUND' } end
if keySpaceId ~= '' and keySpaceId ~= v[3] then return { 'FORBIDDEN' } end
local dropped = type(v[1]) == 'string' and tonumber(v[1]) or 0
return { 'OK', 1 + dropped + redis.call('LLEN', job .. ':events'), digits(nowMs()), v[2], v[3], v[4], v[5], v[6] }
