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

-- Return a job to its queues, at this order, or to their end when it is nil. It begins with the ZREM of moveToStatusIndex.
local function returnToQueue(job, nowMs, order)
  moveToStatusIndex(job, 'pending')
  enqueue(job, order or nextOrder(job.base, job.space, nowMs * 1024))
  redis.call('ZREM', job.base .. 'deadlines', job.id)
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
  recordReturn(job, formatInteger(nowMs), 'retried', data, eventsPerJob)
  return 'pending'
end

-- End a delivery that was not acked in time: return the job to its place by creation, or make it dead after too many in
-- a row. `timeouts` is how many there were before, as the record has it. Return the status that the job has now.
local function failDelivery(job, timeouts, nowMs, maxDeliveries, eventsPerJob, retentionMs)
  local count = tonumber(stored(timeouts) or 0) + 1
  if count >= tonumber(maxDeliveries) then
    local errorJson = '"Job was delivered ' .. maxDeliveries .. ' times and never acknowledged"'
    makeDead(job, nowMs, errorJson, eventsPerJob, retentionMs, 'deliveryTimeouts', formatInteger(count))
    return 'dead'
  end
  returnToQueue(job, nowMs, job.order)
  recordReturn(job, formatInteger(nowMs), 'delivery_timeout', 'null', eventsPerJob, 'deliveryTimeouts', formatInteger(count))
  return 'pending'
end
