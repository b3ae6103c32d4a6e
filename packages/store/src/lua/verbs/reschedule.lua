-- ARGV jobId delay priority
-- REPLY OK before:Status after:Status
-- ERRORS JOB_NOT_PENDING JOB_NOT_FOUND FORBIDDEN
-- REPLICATED
--
-- Change when a waiting job becomes claimable, or put it at the end of the queue. Its start limit restarts once it is claimable.
--   delay      see timeOf
--   priority   head start in seconds; '' to keep the current one
--   before, after   previous and new status of the job
local job, refusal = openJob(base, space, jobId)
if refusal then return refusal end
if job.status ~= 'scheduled' and job.status ~= 'pending' then return { 'JOB_NOT_PENDING', job.status } end

leaveWaiting(job)
if priority == '0' then
  redis.call('HDEL', job.key, 'priority')
  clearFlags(job, 'p')
  job.priority = false
elseif priority ~= '' then
  redis.call('HSET', job.key, 'priority', priority)
  setFlag(job, 'p')
  job.priority = priority
end
if startLimit(job) then
  redis.call('HDEL', job.key, 'startBy')
  job.startBy = false
end
local scheduledFor = timeOf(delay, nowMs)
local status = returnToWaiting(job, nowMs, scheduledFor)
if not scheduledFor then redis.call('HDEL', job.key, 'scheduledFor') end -- the job no longer waits for that time
local data = '{"scheduledFor":' .. (scheduledFor and isoText(scheduledFor) or 'null')
data = data .. (priority == '' and '}' or ',"priority":' .. priority .. '}')
recordEvent(job, nowText, 'rescheduled', status, data)
return { 'OK', job.status, status }
