-- ARGV jobId delay isDryRun
-- REPLY OK before:Status after:Status
-- REPLY NOT_UNIQUE id status:Status
-- ERRORS JOB_NOT_DEAD JOB_NOT_FOUND FORBIDDEN
-- REPLICATED
--
-- Put a dead or killed job back at the end of the queue, or schedule it, with all retries available again. The job reclaims its
-- unique key, and its pending callback is dropped.
--   delay          see timeOf
--   isDryRun       '1' to change nothing, '' otherwise
--   before, after  previous and new status of the job
--   id, status     ID and status of the other job that occupies the unique key
local job, refusal = openJob(base, space, jobId)
if refusal then return refusal end
if job.status ~= 'dead' and job.status ~= 'killed' then return { 'JOB_NOT_DEAD', job.status } end

local unique = option(job, 'u', 'unique')
local takesBack = unique and takesUniqueBack(job, unique, nowMs)
local other, isOccupied
if takesBack then other, isOccupied = uniqueHolder(job, unique, nowMs) end
if other and other.id == jobId then other = nil end
if other and isOccupied then return { 'NOT_UNIQUE', other.id, other.status } end
if isDryRun ~= '' then return { 'OK', job.status, job.status } end

local before = job.status
leave(base .. 'callbacks', jobId)
redis.call('HDEL', job.key, 'result', 'error', 'deliveryTimeouts', 'startBy', 'killReason', 'kept',
  'callbackAttempts', 'callbackRound', 'callbackDueAt', 'callbackLeasedUntil')
job.attempt, job.returns, job.startBy = '0', nextOf(job.returns), false
clearFlags(job, 'd')
local scheduledFor = timeOf(delay, nowMs)
local status = returnToWaiting(job, nowMs, scheduledFor)
if takesBack then
  redis.call('HDEL', job.key, 'uniqueFreed')
  occupyUnique(job, unique, other)
end
local data = scheduledFor and '{"scheduledFor":' .. isoText(scheduledFor) .. '}' or 'null'
recordWaiting(job, nowText, 'requeued', status, data)
return { 'OK', before, status }
