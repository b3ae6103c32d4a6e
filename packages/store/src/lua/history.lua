-- Append an event to the history. `at` is epoch ms as text, `data` JSON text. The history keeps the newest EVENTS_PER_JOB
-- events, counting `created`, which is derived from the job and so never dropped, and fewer when they take more than
-- EVENT_BYTES_PER_JOB. An entry does not contain its seq: the last has the seq of the state. It also leaves out data that
-- follows from the record: empty data, and the data of `completed`, which is the job's result. While all of it follows from
-- the record, there is no list, see impliedEntries.
local function appendEvent(job, at, type, data)
  job.seq = nextOf(job.seq)
  local isImplied = type == 'delivered' or type == 'acked' or type == 'completed'
  if not isImplied or (job.flags ~= '-' and has(job, 'h')) then
    local kept = (data == 'null' or type == 'completed') and '' or ',' .. data
    appendEntries(job, '["' .. type .. '",' .. at .. kept .. ']')
  end
end

-- Append that a job was delivered and acked at once.
local function appendDelivery(job, at)
  job.seq = nextOf(nextOf(job.seq))
  if has(job, 'h') then
    appendEntries(job, '["delivered",' .. at .. ']', '["acked",' .. at .. ']')
  end
end

-- Record an event of a job, and the status that it leads to. First write the history, because it may begin with values
-- that are still in the record. Then write the state, and any further fields (name, value, …). Publish last.
local function recordEvent(job, at, type, status, data, ...)
  appendEvent(job, at, type, data)
  redis.call('HSET', job.key, 'state', stateOf(job, status, at), ...)
  if isWatched(job.base) then
    publish(job, job.seq, type, status, at, data)
  end
end

-- Record the event with which a job goes back to waiting, with further fields of the record (name, value, …). Then remove
-- the fields of its delivery: the history, which is written first, may begin with them.
local function recordWaiting(job, at, type, status, data, ...)
  appendEvent(job, at, type, data)
  redis.call('HSET', job.key, 'state', stateOf(job, status, at), ...)
  redis.call('HDEL', job.key, 'deliveredAt', 'startedAt', 'runBy', 'workerId', 'ackWithinMs')
  if isWatched(job.base) then
    publish(job, job.seq, type, status, at, data)
  end
end
