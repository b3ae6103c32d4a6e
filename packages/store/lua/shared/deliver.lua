-- Hand a pending job that has left its queues to the one caller that asked, and start its delivery window.
local function deliver(job, now, at, deliveryTimeoutMs, eventsPerJob)
  moveStatus(job, 'delivered')
  redis.call('ZADD', job.base .. 'deadlines', digits(now + deliveryTimeoutMs), job.id)
  record(job, at, 'delivered', 'delivered', 'null', eventsPerJob, 'deliveredAt', at)
end

-- The job that was handed out as a flat list; claimedJobOf in the store reads it in this order.
local function claimedJob(job, payload, checkpoint)
  return { job.id, job.name, job.timeoutSeconds, job.maxRetries, job.attempt, job.order, payload, checkpoint }
end
