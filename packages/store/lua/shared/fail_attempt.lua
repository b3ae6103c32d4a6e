-- End an attempt that failed: back to the end of the queue while retries remain, else dead with its callback.
-- `failure` is JSON text. Both ways begin with the ZREM of moveStatus. Returns the status that the job has now.
local function failAttempt(job, now, failure, eventsPerJob, retentionMs)
  if tonumber(job.attempt) <= tonumber(job.maxRetries) then
    moveStatus(job, 'pending')
    enqueue(job, nextOrder(job.base, job.space, now * 1024))
    redis.call('ZREM', job.base .. 'deadlines', job.id)
    local data = '{"error":' .. failure .. ',"attemptNumber":' .. job.attempt .. '}'
    takeBack(job, digits(now), 'retried', data, eventsPerJob)
    return 'pending'
  else
    die(job, now, failure, eventsPerJob, retentionMs)
    return 'dead'
  end
end
