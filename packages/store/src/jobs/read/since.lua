-- KEYS jobKey
-- ARGV fromSeq portion
-- REPLY OK firstSeq:number events[] lastSeq:number logSeq:number newestLog? status:Status name space result?
-- ERRORS JOB_NOT_FOUND
--
-- Read a portion of a job's history, from an event's seq on, or from the oldest that is left. Return also the data with
-- which a reader sends those events, and the logs appended in the meantime, as if they were live.
--   firstSeq   of the first event returned; lastSeq of the last that exists
--   logSeq     of the newest log entry, which is newestLog
--   result     null unless the job is completed
local v = redis.call('HMGET', jobKey, 'eventsDropped', 'logsDropped', 'status', 'name', 'space', 'result')
if not stored(v[3]) then return { 'JOB_NOT_FOUND' } end
local dropped = tonumber(stored(v[1]) or 0)
local history, logs = jobKey .. ':events', jobKey .. ':logs'
local first = math.max(0, tonumber(fromSeq) - 2 - dropped) -- event 1 is `created`, which is not in the list
local events = redis.call('LRANGE', history, first, first + tonumber(portion) - 1)
local length = redis.call('LLEN', history)
if length == 0 then
  local implied = impliedEntries(jobKey, v[3])
  length = #implied
  events = { unpack(implied, first + 1) }
end
local lastSeq = 1 + dropped + length
local logSeq = tonumber(stored(v[2]) or 0) + redis.call('LLEN', logs)
return { 'OK', first + 2 + dropped, events, lastSeq, logSeq, redis.call('LINDEX', logs, -1), v[3], v[4], v[5], v[6] }
