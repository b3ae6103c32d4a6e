-- Make a pending job that has left its queues delivered, for the caller that claims it, and open its delivery window.
-- Further fields of the record may follow (name, value, …).
local function markDelivered(job, nowMs, at, deliveryTimeoutMs, eventsPerJob, ...)
  moveToStatusIndex(job, 'delivered')
  openWindow(job, nowMs, deliveryMs(job, deliveryTimeoutMs))
  recordEvent(job, at, 'delivered', 'delivered', 'null', eventsPerJob, 'deliveredAt', at, ...)
end

-- Make a pending job that has left its queues delivered and running at once, for the caller that claims it. Further fields
-- of the record may follow.
local function markRunning(job, nowMs, at, _, eventsPerJob, ...)
  startAttempt(job, nowMs, job.unique, job.maxRunSeconds, job.startBy, job.deliveryTimeouts)
  local seq = appendDelivery(job, at, eventsPerJob)
  redis.call('HSET', job.key, 'status', 'running', 'updatedAt', at, 'deliveredAt', at, 'startedAt', at,
    'attempt', formatInteger(job.attempt + 1), ...)
  publish(job, formatInteger(seq), 'delivered', 'delivered', at, 'null')
  publish(job, formatInteger(seq + 1), 'acked', 'running', at, 'null')
end

-- Append the values of a claimed job to a list; claimedJobsOf in the store reads them in this order. The last two say
-- how long the job has waited: when it last changed before as text, nothing for a new job; and, only for the first job, the
-- time now as a number. Lua does not subtract them, because that takes it longer than to return them.
local function appendClaimed(values, job, nowMs)
  local n = #values
  values[n + 1], values[n + 2], values[n + 3], values[n + 4], values[n + 5] = job.id, job.name, job.timeoutSeconds, job.maxRetries, job.attempt
  values[n + 6], values[n + 7], values[n + 8], values[n + 9] = job.order, job.payload or false, job.checkpoint or false, job.takeBacks or false
  values[n + 10], values[n + 11] = job.updatedAt or false, n == 0 and nowMs
end
