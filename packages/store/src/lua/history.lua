-- Append an event to the history of a job. `at` is epoch ms as text, `data` is JSON text. The history keeps the newest
-- EVENTS_PER_JOB events, or fewer when they exceed EVENT_BYTES_PER_JOB. The event `created` counts, but is derived from the job
-- and never dropped. An entry does not contain its seq: the last entry has the seq of the state. Entries omit empty data, and
-- the data of `completed`, which is the job's result. While the record implies the whole history, there is no list, see
-- impliedEntries.
local function appendEvent(job, at, type, data)
  job.seq = nextOf(job.seq)
  local isImplied = type == 'delivered' or type == 'acked' or type == 'completed'
  if not isImplied or (job.flags ~= '-' and has(job, 'h')) then
    local kept = (data == 'null' or type == 'completed') and '' or ',' .. data
    appendEntries(job, '["' .. type .. '",' .. at .. kept .. ']')
  end
end

-- Append the events `delivered` and `acked` of a poll with autoAck.
local function appendDelivery(job, at)
  job.seq = nextOf(nextOf(job.seq))
  if has(job, 'h') then
    appendEntries(job, '["delivered",' .. at .. ']', '["acked",' .. at .. ']')
  end
end

-- Record an event of a job and the resulting status. Write the history first, because its first entries may come from values
-- that the record still has. Then write the state and any further fields (name, value, …). Publish last.
local function recordEvent(job, at, type, status, data, ...)
  appendEvent(job, at, type, data)
  redis.call('HSET', job.key, 'state', stateOf(job, status, at), ...)
  if isWatched(job.base) then
    publish(job, job.seq, type, status, at, data)
  end
end

-- Record the event that puts a job back to waiting, with any further fields of the record (name, value, …). Then remove the
-- fields of its delivery. The history is written first, because its first entries may come from them.
local function recordWaiting(job, at, type, status, data, ...)
  appendEvent(job, at, type, data)
  redis.call('HSET', job.key, 'state', stateOf(job, status, at), ...)
  redis.call('HDEL', job.key, 'deliveredAt', 'startedAt', 'runBy', 'workerId', 'ackWithinMs')
  if isWatched(job.base) then
    publish(job, job.seq, type, status, at, data)
  end
end
