-- KEYS job
-- ARGV keySpaceId
--
-- Read where a job stands, and the seqs of the last event that led there and of the newest log entry.
-- Returns {'OK', seq, seq of the newest log, now in ms, status, space, name, updatedAt, progress}, the last two null when
-- there is none; JOB_NOT_FOUND or FORBIDDEN.
-- @include clock job implied
local v = redis.call('HMGET', job, 'eventsDropped', 'logsDropped', 'status', 'space', 'name', 'updatedAt', 'progress')
if not stored(v[3]) then return { 'JOB_NOT_FOUND' } end
if keySpaceId ~= '' and keySpaceId ~= v[4] then return { 'FORBIDDEN' } end
local length = redis.call('LLEN', job .. ':events')
if length == 0 then length = #impliedEntries(job, v[3]) end
local seq = 1 + tonumber(stored(v[1]) or 0) + length
local logSeq = tonumber(stored(v[2]) or 0) + redis.call('LLEN', job .. ':logs')
return { 'OK', seq, logSeq, digits(nowMs()), v[3], v[4], v[5], v[6], v[7] }
