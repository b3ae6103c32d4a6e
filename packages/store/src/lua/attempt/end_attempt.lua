-- Do what the options of a job ask for when it ends with this status: its callback is due, and its unique key is free.
local function endOptions(job, nowMs, status)
  if wantsCallback(job, status) then enqueueCallback(job, nowMs) end
  if has(job, 'u') then freeUnique(job, option(job, 'u', 'unique'), 'expired') end
end

-- Make a job dead, with its callback. `errorJson` is JSON text; further fields of the record may follow (name, value,
-- …). It begins with the ZREM of moveToStatusIndex. Return the status.
local function makeDead(job, nowMs, errorJson, ...)
  moveToStatusIndex(job, 'dead')
  startRetention(job, nowMs, retentionIn(settingsText(job.base, job.space), 'dead'))
  if job.status ~= 'running' then leaveWaiting(job) end
  endOptions(job, nowMs, 'dead')
  recordEvent(job, formatInteger(nowMs), 'dead', 'dead', '{"error":' .. errorJson .. '}', 'error', errorJson, ...)
  if #errorJson > 512 and has(job, 'b') then
    countBytes(job)
  end
  return 'dead'
end

-- End an attempt that failed: while retries remain the job is requeued, at the end of the queue or for a delay; otherwise
-- it is dead, with its callback. `errorJson` is JSON text. Return the status that the job has now.
--   again   delayMs until the next attempt, nil for what `retry` of the record says; and random, see retryDelayMs
local function failAttempt(job, nowMs, errorJson, again)
  if tonumber(job.attempt) > tonumber(job.maxRetries) then return makeDead(job, nowMs, errorJson) end
  local retry, delayMs = option(job, 'r', 'retry'), again.delayMs
  if retry and not delayMs then delayMs = retryDelayMs(retry, job.attempt, tonumber(again.random)) end
  local scheduledFor = (delayMs or 0) > 0 and nowMs + delayMs or nil
  local status = returnToWaiting(job, nowMs, scheduledFor)
  local data = '{"error":' .. errorJson .. ',"attemptNumber":' .. job.attempt .. scheduledData(scheduledFor)
  recordWaiting(job, formatInteger(nowMs), 'retried', status, data, 'error', errorJson)
  if #errorJson > 512 and has(job, 'b') then
    countBytes(job)
  end
  return status
end

-- End a delivery that was not acked in time: return the job to its place by creation, or make it dead when its time to
-- start is over, or after too many timeouts in a row. Return the status that the job has now.
--   windowMs    how long the worker had for the ack
local function failDelivery(job, windowMs, nowMs)
  if isStartOver(job, nowMs) then return failStart(job, nowMs) end
  local count = (option(job, 'd', 'deliveryTimeouts') or 0) + 1
  setFlag(job, 'd')
  if count >= MAX_DELIVERIES then
    local errorJson = '"Job was delivered ' .. MAX_DELIVERIES .. ' times and never acknowledged"'
    return makeDead(job, nowMs, errorJson, 'deliveryTimeouts', count)
  end
  local status = returnToWaiting(job, nowMs, nil, job.order)
  job.returns = nextOf(job.returns)
  recordWaiting(job, formatInteger(nowMs), 'delivery_timeout', status, 'null',
    'deliveryTimeouts', count, 'missedWindowMs', formatInteger(windowMs))
  return status
end
