-- Return the message for a worker whose ack came too late; nil when the job is not delivered for another reason.
local function missedWindow(job)
  if job.status ~= 'pending' then return nil end
  local last = redis.call('LINDEX', job.key .. ':events', -1)
  local ms = redis.call('HGET', job.key, 'missedWindowMs')
  if not ms or ms == '0' or not string.find(last or '', '^%["delivery_timeout"') then return nil end
  return string.format('Job was not acked within %g s of its delivery and is pending again', ms / 1000)
end

-- Return which delivery of a job a token belongs to: 'current' for the delivery that holds the job or that ended it; 'over' for
-- an earlier one; 'unknown' for a token that the job never had. A token is <attempts at delivery>.<returns>.<order>. The state
-- contains all three, so a claim stores nothing for its token. Returns never decrease, so no two deliveries of a job share a
-- token. The order distinguishes the job from a deleted one that had the same ID.
local function deliveryOf(job, token)
  local attempt, returns, order = string.match(token, '^(%d+)%.(%d+)%.(%d+)$')
  if order ~= job.order then return 'unknown' end
  attempt, returns = tonumber(attempt), tonumber(returns)
  -- An attempt is counted at its ack, so the token of the current delivery has one less. A dead job with delivery timeouts was
  -- not acked in its last delivery, because an ack removes them. A dead job without attempts died before its first ack.
  local diedAcked = job.status == 'dead' and not has(job, 'd') and tonumber(job.attempt) > 0
  local wasAcked = job.status == 'running' or job.status == 'completed' or diedAcked
  local lastAttempt = tonumber(job.attempt) - (wasAcked and 1 or 0)

  if returns < tonumber(job.returns) then
    -- The attempt may exceed the current count: a requeue resets the count, and a `replace` may lower maxRetries, which is
    -- at most 100.
    return attempt <= 100 and 'over' or 'unknown'
  end
  if returns > tonumber(job.returns) or attempt > lastAttempt then return 'unknown' end
  if attempt < lastAttempt then return 'over' end
  -- This is the token of the next delivery while the job waits. No worker has it yet, even if the job died while waiting.
  local waits = job.status == 'pending' or job.status == 'scheduled'
  if job.status == 'dead' then waits = not redis.call('HGET', job.key, 'deliveredAt') end
  return waits and 'unknown' or 'current'
end
