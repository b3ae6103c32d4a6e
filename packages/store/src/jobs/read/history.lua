-- KEYS base
-- ARGV jobId fromSeq portion
-- REPLY OK firstSeq:number events[]
--
-- Read a portion of a job's history, starting at a seq or at the oldest entry left. The history is long enough to have a list, see
-- get.lua.
local job = loadJob(base, jobId)
if not job.status then return { 'OK', tonumber(fromSeq), {} } end
local first, firstSeq = placeInHistory(job, fromSeq)
return { 'OK', firstSeq, redis.call('LRANGE', job.key .. ':events', first, first + tonumber(portion) - 1) }
