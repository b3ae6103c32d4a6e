-- KEYS base
-- ARGV jobId fromSeq portion
-- REPLY OK firstSeq:number events[] lastSeq:number logSeq:number newestLog? status:Status name space result? tags?
-- ERRORS JOB_NOT_FOUND
--
-- Read a portion of a job's history, from an event's seq on, or from the oldest that is left. Return also the data with
-- which a reader sends those events, and the logs appended in the meantime, as if they were live.
--   firstSeq   of the first event returned; lastSeq of the last that exists
--   logSeq     of the newest log entry, which is newestLog
--   result     null unless the job is completed
--   tags       the job's present ones, see lua/tags.lua
local job, logsDropped, result, tags = loadJob(base, jobId, 'logsDropped', 'result', 'tags')
if not job.status then return { 'JOB_NOT_FOUND' } end
local first, firstSeq, _, implied = placeInHistory(job, fromSeq)
local events = implied and { unpack(implied, first + 1) }
  or redis.call('LRANGE', job.key .. ':events', first, first + tonumber(portion) - 1)
local logs = job.key .. ':logs'
local logSeq = tonumber(logsDropped or 0) + redis.call('LLEN', logs)
return { 'OK', firstSeq, events, job.seq, logSeq, redis.call('LINDEX', logs, -1), job.status, job.name, job.space, result, tags }
