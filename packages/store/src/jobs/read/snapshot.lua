-- KEYS base
-- ARGV jobId space
-- REPLY OK seq:number droppedSeq:number logSeq:number at:number status:Status space name updatedAt:number progress? tags?
-- ERRORS JOB_NOT_FOUND FORBIDDEN
--
-- Read the state of a job, and the seqs of its newest event and its newest log entry.
--   droppedSeq  seq of the newest event that the history no longer has; 1 (`created`) when it has all others
--   at          current time, epoch ms
--   progress    JSON text
--   tags        see lua/tags.lua
local job, refusal, logsDropped, progress, tags = openJob(base, space, jobId, 'logsDropped', 'progress', 'tags')
if refusal then return refusal end
local droppedSeq = has(job, 'h') and job.seq - redis.call('LLEN', job.key .. ':events') or 1
local logSeq = tonumber(logsDropped or 0) + redis.call('LLEN', job.key .. ':logs')
return { 'OK', job.seq, droppedSeq, logSeq, formatInteger(now()), job.status, job.space, job.name, job.updatedAt, progress, tags }
