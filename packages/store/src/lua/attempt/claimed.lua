-- Mark a pending job as delivered and open its delivery window. The caller has taken the job out of its queues. More fields of
-- the record can follow (name, value, …).
--   ackWithinMs   see deliveryMs
local function markDelivered(job, nowMs, at, ackWithinMs, ...)
  moveToStatusIndex(job, 'delivered')
  openWindow(job, nowMs, deliveryMs(job, ackWithinMs))
  recordEvent(job, at, 'delivered', 'delivered', 'null', 'deliveredAt', at, ...)
end

-- Mark a pending job as delivered and running in one step, for a poll with autoAck. The caller has taken the job out of its
-- queues. More fields of the record can follow.
local function markRunning(job, nowMs, at, _, ...)
  startAttempt(job, nowMs)
  appendDelivery(job, at)
  redis.call('HSET', job.key, 'state', stateOf(job, 'running', at), 'deliveredAt', at, 'startedAt', at, ...)
  if isWatched(job.base) then
    publish(job, previousOf(job.seq), 'delivered', 'delivered', at, 'null')
    publish(job, job.seq, 'acked', 'running', at, 'null')
  end
end

-- Append the values of a claimed job to a reply, in the order in which claimedOf reads them: ID, state before the delivery,
-- payload, checkpoint, and (only for the first job) the current time.
local function appendClaimed(reply, job, payload, now)
  local n, checkpoint = #reply, false
  if job.flags ~= '-' then
    checkpoint = option(job, 'k', 'checkpoint') or false
  end
  reply[n + 1], reply[n + 2], reply[n + 3], reply[n + 4], reply[n + 5] = job.id, job.state, payload, checkpoint, now
end
