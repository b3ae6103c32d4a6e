-- KEYS jobKey
-- ARGV keySpaceId
-- REPLY OK seq:number droppedSeq:number logSeq:number at:number status:Status space name updatedAt:number? progress? tags?
-- ERRORS JOB_NOT_FOUND FORBIDDEN
--
-- Read the state of a job, and the seqs of its last event and of its newest log entry.
--   droppedSeq  of the newest event that the history no longer has; 1, which is `created`, when it has all others
--   at          now, epoch ms
--   progress    JSON text
--   tags        see lua/tags.lua
local v = redis.call('HMGET', jobKey, 'eventsDropped', 'logsDropped', 'status', 'space', 'name', 'updatedAt', 'progress', 'tags')
local refusal = refusalFor(stored(v[3]), v[4], keySpaceId)
if refusal then return { refusal } end
local length = redis.call('LLEN', jobKey .. ':events')
if length == 0 then length = #impliedEntries(jobKey, v[3]) end
local droppedSeq = 1 + tonumber(stored(v[1]) or 0)
local logSeq = tonumber(stored(v[2]) or 0) + redis.call('LLEN', jobKey .. ':logs')
return { 'OK', droppedSeq + length, droppedSeq, logSeq, formatInteger(now()), v[3], v[4], v[5], v[6], v[7], v[8] }
