-- KEYS base
-- ARGV jobId fromSeq portion
-- REPLY OK firstSeq:number events[] lastSeq:number logSeq:number newestLog? status:Status name space result? tags?
-- ERRORS JOB_NOT_FOUND
--
-- Read a portion of a job's history, starting at a seq or at the oldest entry left. Also return what a stream needs to send these
-- events, and the logs appended in the meantime, as if they were live.
--   firstSeq, lastSeq   seq of the first event returned, and of the newest event of the job
--   logSeq     seq of the newest log entry, `newestLog`
--   result     null unless the job is completed
--   tags       current tags of the job; see lua/tags.lua
local job, logsDropped, result, tags = loadJob(base, jobId, 'logsDropped', 'result', 'tags')
if not job.status then return { 'JOB_NOT_FOUND' } end
local first, firstSeq, _, implied = placeInHistory(job, fromSeq)
local events = implied and { unpack(implied, first + 1) }
  or redis.call('LRANGE', job.key .. ':events', first, first + tonumber(portion) - 1)
local logs = job.key .. ':logs'
local logSeq = tonumber(logsDropped or 0) + redis.call('LLEN', logs)
return { 'OK', firstSeq, events, job.seq, logSeq, redis.call('LINDEX', logs, -1), job.status, job.name, job.space, result, tags }
