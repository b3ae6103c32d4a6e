-- Apply the options of a job that has ended with this status: enqueue its callback and free its unique key.
local function endOptions(job, nowMs, status)
  if wantsCallback(job, status) then enqueueCallback(job, nowMs) end
  if has(job, 'u') then freeUnique(job, option(job, 'u', 'unique'), 'expired') end
end

-- Mark a job as dead, enqueue its callback and return 'dead'. `errorJson` is JSON text. More fields of the record can follow
-- (name, value, …). The first write is a ZREM; see replaceEntry.
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

-- End a failed attempt and return the new status of the job. While retries remain, the job goes to the end of the queue or is
-- scheduled after a delay; otherwise it is dead, and its callback is enqueued. `errorJson` is JSON text.
--   again   delayMs: delay before the next attempt, nil to follow `retry` of the record; random: see retryDelayMs
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

-- End a delivery that was not acked in time, and return the new status of the job. The job returns to its place in the queue.
-- If its start limit has passed, or after too many timeouts in a row, it becomes dead instead.
--   windowMs    the delivery window that the worker had
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
