-- Make a pending job that has left its queues delivered, for the caller that claims it, and open its delivery window.
local function markDelivered(job, nowMs, at, deliveryTimeoutMs, eventsPerJob)
  moveToStatusIndex(job, 'delivered')
  openWindow(job, nowMs, deliveryMs(job, deliveryTimeoutMs))
  recordEvent(job, at, 'delivered', 'delivered', 'null', eventsPerJob, 'deliveredAt', at)
end

-- Return a delivered job as a flat list; claimedJobOf in the store reads it in this order.
local function claimedJob(job, payload, checkpoint, takeBacks)
  return { job.id, job.name, job.timeoutSeconds, job.maxRetries, job.attempt, job.order, payload, checkpoint, takeBacks }
end
