-- End an attempt that failed: back to the end of the queue while retries remain, else dead with its callback.
-- `failure` is JSON text. Both ways begin with the ZREM of moveStatus. Returns the status that the job has now.
local function failAttempt(job, now, failure, eventsPerJob, retentionMs)
  if job.attempt <= tonumber(job.maxRetries) then
    moveStatus(job, 'pending')
    enqueue(job, nextOrder(job.base, job.space, now))
    redis.call('ZREM', job.base .. 'deadlines', job.id)
    redis.call('HDEL', job.key, 'deliveredAt', 'startedAt')
    local data = '{"error":' .. failure .. ',"attemptNumber":' .. digits(job.attempt) .. '}'
    record(job, now, 'retried', 'pending', data, eventsPerJob)
    return 'pending'
  else
    moveStatus(job, 'dead')
    retain(job, now, retentionMs)
    oweCallback(job, now)
    record(job, now, 'dead', 'dead', '{"error":' .. failure .. '}', eventsPerJob, 'error', failure)
    return 'dead'
  end
end
