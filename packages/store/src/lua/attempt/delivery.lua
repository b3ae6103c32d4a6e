-- Return the count of take-backs of a job, by delivery time-outs and releases, after one more.
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

-- Return which delivery of a job a token belongs to: 'current', the one that has the job now or that ended it; 'over';
-- or 'unknown', for a token that the job never had. A token is <attempts at delivery>.<take-backs>; the record counts
-- both, so that a claim stores nothing for it.
local function deliveryOf(job, token)
  local attempt, takeBacks = string.match(token, '^(%d+)%.(%d+)$')
  attempt, takeBacks = tonumber(attempt), tonumber(takeBacks)
  local v = redis.call('HMGET', job.key, 'takeBacks', 'deliveryTimeouts')
  local lastTakeBacks = tonumber(stored(v[1]) or 0)
  -- The attempt that runs or has ended the job is counted, but was not at its delivery. A dead job that has delivery
  -- time-outs was not acked in its last delivery, because an ack removes them; one without attempts died before its
  -- first ack.
  local diedAcked = job.status == 'dead' and not stored(v[2]) and tonumber(job.attempt) > 0
  local wasAcked = job.status == 'running' or job.status == 'completed' or diedAcked
  local lastAttempt = tonumber(job.attempt) - (wasAcked and 1 or 0)

  if takeBacks > lastTakeBacks or attempt > lastAttempt then return 'unknown' end
  if takeBacks < lastTakeBacks or attempt < lastAttempt then return 'over' end
  -- While a job waits, its next delivery will have this token, and none has it yet. It may have died while it waited.
  local waits = job.status == 'pending' or job.status == 'scheduled'
  if job.status == 'dead' then waits = not stored(redis.call('HGET', job.key, 'deliveredAt')) end
  return waits and 'unknown' or 'current'
end

-- Decide about a worker's call by its delivery token. Return its reply, or nil when the call goes on as one without a
-- token. A killed job refuses every call in its own words.
--   doneIn    status in which the current delivery has made this call already; nil for a call that may be repeated
local function replyToToken(job, token, doneIn)
  if job.status == 'killed' or job.status == 'pending' or job.status == 'scheduled' then return nil end
  if deliveryOf(job, token) ~= 'current' then return { 'DELIVERY_LOST', job.status } end
  if job.status == doneIn then return { 'UNCHANGED' } end
  if job.status == 'completed' or job.status == 'dead' then return { 'JOB_NOT_RUNNING', job.status } end
end

-- Decide by its delivery token about a fail or a release, with which a worker gives its job up. A worker that has lost
-- the job already may make the call as well: nothing changes, whichever worker has the job now.
local function replyToGivingUp(job, token)
  if job.status == 'killed' then return nil end
  local delivery = deliveryOf(job, token)
  if delivery == 'unknown' then return { 'DELIVERY_LOST', job.status } end
  if delivery == 'over' or job.status == 'dead' then return { 'UNCHANGED' } end
end
