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
  startAttempt(job, nowMs)
  appendDelivery(job, at, eventsPerJob)
  redis.call('HSET', job.key, 'state', stateOf(job, 'running', at), 'deliveredAt', at, 'startedAt', at, ...)
  publish(job, job.seq - 1, 'delivered', 'delivered', at, 'null')
  publish(job, job.seq, 'acked', 'running', at, 'null')
end

-- Append the values of a claimed job to a list; claimedJobsOf in the store reads them in this order: its id, name, state
-- before the delivery, payload and checkpoint; and, only for the first job, the time now.
local function appendClaimed(values, job, payload, nowMs)
  local n, checkpoint = #values, false
  if has(job, 'k') then
    checkpoint = option(job, 'k', 'checkpoint')
  end
  values[n + 1], values[n + 2], values[n + 3], values[n + 4] = job.id, job.name, job.state, payload
  values[n + 5], values[n + 6] = checkpoint, n == 0 and nowMs
end
