-- KEYS base
-- ARGV jobId fromSeq portion
-- REPLY OK firstSeq:number events[]
--
-- Read a portion of a job's history, from an event's seq on, or from the oldest that is left. It is so long that it has
-- a list, see get.lua.
local job = loadJob(base, jobId)
local dropped = (job.seq or 1) - 1 - redis.call('LLEN', job.key .. ':events')
local first = math.max(0, tonumber(fromSeq) - 2 - dropped) -- event 1 is `created`, which is not in the list
local events = redis.call('LRANGE', job.key .. ':events', first, first + tonumber(portion) - 1)
return { 'OK', first + 2 + dropped, events }
