-- Write an event into the history, and last of all tell the news. `at` is epoch ms as text, `data`
-- JSON text. The history keeps the newest
-- `eventsPerJob` records, counting `created`, which is derived from the job and so never dropped. An entry does not
-- hold its seq: it is its place in the list, after `created` (1) and after what was dropped. Nor does it hold what can
-- be told without it: no data, and the data of `completed`, which is the job's result.
local function append(job, at, type, status, data, eventsPerJob)
  local history = job.key .. ':events'
  local kept = (data == 'null' or type == 'completed') and '' or ',' .. data
  local length = redis.call('RPUSH', history, '["' .. type .. '",' .. at .. kept .. ']')
  local seq = 1 + job.eventsDropped + length
  local excess = length - (tonumber(eventsPerJob) - 1)
  if excess > 0 then
    redis.call('LTRIM', history, excess, -1)
    redis.call('HSET', job.key, 'eventsDropped', digits(job.eventsDropped + excess))
  end
  publish(job, digits(seq), type, status, at, data)
end

-- Make an event of the job's life true: the record's status and times, any other fields that come with it (name,
-- value, …), the history and the news.
local function record(job, at, type, status, data, eventsPerJob, ...)
  redis.call('HSET', job.key, 'status', status, 'updatedAt', at, ...)
  append(job, at, type, status, data, eventsPerJob)
end
