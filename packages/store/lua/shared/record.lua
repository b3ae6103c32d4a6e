-- Make an event true: the record's status and times, any other fields that come with it (name, value, …),
-- the history, and last of all the news. `data` is JSON text. The history keeps the newest `eventsPerJob`
-- records, counting `created`, which is derived from the job and so never dropped.
local function record(job, now, type, status, data, eventsPerJob, ...)
  job.eventSeq = job.eventSeq + 1
  job.status = status
  redis.call('HSET', job.key, 'status', status, 'eventSeq', digits(job.eventSeq), 'updatedAt', digits(now), ...)
  local history = job.key .. ':events'
  local length = redis.call('RPUSH', history, '[' .. digits(job.eventSeq) .. ',"' .. type .. '",' .. digits(now) .. ',' .. data .. ']')
  local keep = tonumber(eventsPerJob) - 1
  if length > keep then redis.call('LTRIM', history, -keep, -1) end
  publish(job, job.eventSeq, type, status, now, data)
end
