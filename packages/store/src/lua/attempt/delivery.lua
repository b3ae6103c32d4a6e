-- Explain to a worker whose ack was late what became of its delivery. Return nil when that is not why the job is not
-- delivered.
local function missedWindow(job)
  if job.status ~= 'pending' then return nil end
  local last = redis.call('LINDEX', job.key .. ':events', -1)
  local ms = redis.call('HGET', job.key, 'missedWindowMs')
  if not ms or ms == '0' or not string.find(last or '', '^%["delivery_timeout"') then return nil end
  return string.format('Job was not acked within %g s of its delivery and is pending again', ms / 1000)
end

-- Return which delivery of a job a token belongs to: 'current', the one that has the job now or that ended it; 'over';
-- or 'unknown', for a token that the job never had. A token is <attempts at delivery>.<returns>.<order>; the state has
-- all of them, so that a claim stores nothing for it. Returns never become fewer, so that no two deliveries of a job have one
-- token. The order tells the job from one with the same id that was deleted before it was created.
local function deliveryOf(job, token)
  local attempt, returns, order = string.match(token, '^(%d+)%.(%d+)%.(%d+)$')
  if order ~= job.order then return 'unknown' end
  attempt, returns = tonumber(attempt), tonumber(returns)
  -- The attempt that runs or has ended the job is counted, but was not at its delivery. A dead job that has delivery
  -- timeouts was not acked in its last delivery, because an ack removes them; one without attempts died before its
  -- first ack.
  local diedAcked = job.status == 'dead' and not has(job, 'd') and tonumber(job.attempt) > 0
  local wasAcked = job.status == 'running' or job.status == 'completed' or diedAcked
  local lastAttempt = tonumber(job.attempt) - (wasAcked and 1 or 0)

  if returns < tonumber(job.returns) then
    -- A requeue may have come in between, since which attempts are counted from 0 again, or a `replace` with a smaller
    -- maxRetries, of which 100 is the largest.
    return attempt <= 100 and 'over' or 'unknown'
  end
  if returns > tonumber(job.returns) or attempt > lastAttempt then return 'unknown' end
  if attempt < lastAttempt then return 'over' end
  -- While a job waits, its next delivery will have this token, and none has it yet. It may have died while it waited.
  local waits = job.status == 'pending' or job.status == 'scheduled'
  if job.status == 'dead' then waits = not redis.call('HGET', job.key, 'deliveredAt') end
  return waits and 'unknown' or 'current'
end
