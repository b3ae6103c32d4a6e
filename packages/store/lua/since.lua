-- KEYS job
-- ARGV fromSeq portion
--
-- Read a portion of a job's history, from an event's seq on, or from the oldest that is left, and what a reader
-- needs to tell those events as if they were live.
-- Returns {'OK', seq of the first, {event, …}, seq of the last there is, status, name, space, result}, the result
-- null unless the job is completed; JOB_NOT_FOUND.
local v = redis.call('HMGET', job, 'eventsDropped', 'status', 'name', 'space', 'result')
if type(v[2]) ~= 'string' then return { 'JOB_NOT_FOUND' } end
local dropped = type(v[1]) == 'string' and tonumber(v[1]) or 0
local history = job .. ':events'
local first = math.max(0, tonumber(fromSeq) - 2 - dropped) -- event 1 is `created`, which is not in the list
local events = redis.call('LRANGE', history, first, first + tonumber(portion) - 1)
return { 'OK', first + 2 + dropped, events, 1 + dropped + redis.call('LLEN', history), v[2], v[3], v[4], v[5] }
