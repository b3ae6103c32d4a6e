-- Make a job dead, with its callback. `errorJson` is JSON text; further fields of the record may follow (name, value,
-- …). It begins with the ZREM of moveToStatusIndex.
local function makeDead(job, nowMs, errorJson, eventsPerJob, retentionMs, ...)
  moveToStatusIndex(job, 'dead')
  startRetention(job, nowMs, retentionMs)
  local v = redis.call('HMGET', job.key, 'callbackUrl', 'unique')
  if stored(v[1]) then enqueueCallback(job, nowMs) end
  if stored(v[2]) then freeUnique(job, v[2], 'expired') end
  recordEvent(job, formatInteger(nowMs), 'dead', 'dead', '{"error":' .. errorJson .. '}', eventsPerJob, 'error', errorJson, ...)
end

-- End an attempt that failed: return the job to the end of the queue while retries remain; otherwise make it dead, with
-- its callback. `errorJson` is JSON text. Return the status that the job has now.
local function failAttempt(job, nowMs, errorJson, eventsPerJob, retentionMs)
  if tonumber(job.attempt) > tonumber(job.maxRetries) then
    makeDead(job, nowMs, errorJson, eventsPerJob, retentionMs)
    return 'dead'
  end
  returnToQueue(job, nowMs)
  local data = '{"error":' .. errorJson .. ',"attemptNumber":' .. job.attempt .. '}'
  recordReturn(job, formatInteger(nowMs), 'retried', data, eventsPerJob, 'error', errorJson)
  return 'pending'
end

-- End a delivery that was not acked in time: return the job to its place by creation, or make it dead after too many in
-- a row. Return the status that the job has now.
--   delivery    timeouts and takeBacks as the record has them; windowMs, how long the worker had for the ack
local function failDelivery(job, delivery, nowMs, maxDeliveries, eventsPerJob, retentionMs)
  local count = formatInteger(tonumber(stored(delivery.timeouts) or 0) + 1)
  if tonumber(count) >= tonumber(maxDeliveries) then
    local errorJson = '"Job was delivered ' .. maxDeliveries .. ' times and never acknowledged"'
    makeDead(job, nowMs, errorJson, eventsPerJob, retentionMs, 'deliveryTimeouts', count)
    return 'dead'
  end
  returnToQueue(job, nowMs, job.order)
  recordReturn(job, formatInteger(nowMs), 'delivery_timeout', 'null', eventsPerJob,
    'deliveryTimeouts', count, 'takeBacks', nextTakeBacks(delivery.takeBacks), 'missedWindowMs', formatInteger(delivery.windowMs))
  return 'pending'
end
