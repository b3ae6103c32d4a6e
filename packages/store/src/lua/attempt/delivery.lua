-- Return the count of take-backs of a job, by delivery timeouts, releases and requeues, after one more.
-- The count never falls, so that no two deliveries of a job have one token.
--   takeBacks    as the record has it
local function nextTakeBacks(takeBacks)
  return formatInteger(tonumber(stored(takeBacks) or 0) + 1)
end

-- Explain to a worker whose ack was late what became of its delivery. Return nil when that is not why the job is not
-- delivered.
local function missedWindow(job)
  if job.status ~= 'pending' then return nil end
  local last = redis.call('LINDEX', job.key .. ':events', -1)
  local ms = stored(redis.call('HGET', job.key, 'missedWindowMs'))
  if not ms or ms == '0' or not string.find(stored(last) or '', '^%["delivery_timeout"') then return nil end
  return string.format('Job was not acked within %g s of its delivery and is pending again', ms / 1000)
end

-- Return the names of the fields of the record by which a token is checked; none without a token.
local function tokenFields(token)
  if token ~= '' then return 'takeBacks', 'deliveryTimeouts' end
end

-- Return which delivery of a job a token belongs to: 'current', the one that has the job now or that ended it; 'over';
-- or 'unknown', for a token that the job never had. A token is <attempts at delivery>.<take-backs>; the record counts
-- both, so that a claim stores nothing for it.
--   takeBacks, deliveryTimeouts   as the record has them, see tokenFields
local function deliveryOf(job, token, takeBacks, deliveryTimeouts)
  local attempt, itsTakeBacks = string.match(token, '^(%d+)%.(%d+)$')
  attempt, itsTakeBacks = tonumber(attempt), tonumber(itsTakeBacks)
  local lastTakeBacks = tonumber(stored(takeBacks) or 0)
  -- The attempt that runs or has ended the job is counted, but was not at its delivery. A dead job that has delivery
  -- timeouts was not acked in its last delivery, because an ack removes them; one without attempts died before its
  -- first ack.
  local diedAcked = job.status == 'dead' and not stored(deliveryTimeouts) and tonumber(job.attempt) > 0
  local wasAcked = job.status == 'running' or job.status == 'completed' or diedAcked
  local lastAttempt = tonumber(job.attempt) - (wasAcked and 1 or 0)

  if itsTakeBacks < lastTakeBacks then
    -- A requeue may have come in between, since which attempts are counted from 0 again.
    return attempt <= math.max(lastAttempt, tonumber(job.maxRetries)) and 'over' or 'unknown'
  end
  if itsTakeBacks > lastTakeBacks or attempt > lastAttempt then return 'unknown' end
  if attempt < lastAttempt then return 'over' end
  -- While a job waits, its next delivery will have this token, and none has it yet. It may have died while it waited.
  local waits = job.status == 'pending' or job.status == 'scheduled'
  if job.status == 'dead' then waits = not stored(redis.call('HGET', job.key, 'deliveredAt')) end
  return waits and 'unknown' or 'current'
end
