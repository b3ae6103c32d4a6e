-- Hand a pending job to the one caller that asked, and start its delivery window.
-- Returns the claimed job as a flat list; claimedJobOf in the store reads it in this order.
local function deliver(job, now, deliveryTimeoutMs, eventsPerJob)
  dequeue(job)
  moveStatus(job, 'delivered')
  redis.call('ZADD', job.base .. 'deadlines', digits(now + tonumber(deliveryTimeoutMs)), job.id)
  record(job, now, 'delivered', 'delivered', 'null', eventsPerJob, 'deliveredAt', digits(now))
  local opaque = redis.call('HMGET', job.key, 'payload', 'checkpoint')
  return { job.id, job.name, job.timeoutSeconds, job.maxRetries, digits(job.attempt), job.order, opaque[1], opaque[2] }
end
