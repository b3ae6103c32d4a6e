-- Append an event to the history, and return its seq as text. `at` is epoch ms as text, `data` JSON text. The history
-- keeps the newest `eventsPerJob` events, counting `created`, which is derived from the job and so never dropped. An
-- entry does not contain its seq, which is its position in the list, after `created` (1) and the dropped events. It
-- also leaves out data that follows from the record: empty data, and the data of `completed`, which is the job's
-- result. There is no list as long as all of it follows from the record, see impliedEntries. A new job has none.
local function appendEvent(job, at, type, data, eventsPerJob)
  local history = job.key .. ':events'
  local kept = (data == 'null' or type == 'completed') and '' or ',' .. data
  local entry = '["' .. type .. '",' .. at .. kept .. ']'
  local length = job.isNew and 0 or redis.call('RPUSHX', history, entry)
  local impliedSeq = type == 'delivered' and '2' or type == 'acked' and '3' or type == 'completed' and '4'
  if length == 0 and not impliedSeq then
    local entries = impliedEntries(job.key, job.status)
    entries[#entries + 1] = entry
    length = redis.call('RPUSH', history, unpack(entries))
  end
  if length > 0 then
    return formatInteger(keepNewest(job, history, length, eventsPerJob))
  end
  return impliedSeq
end

-- Append that a job was delivered and acked at once. Return the seq of the delivery.
local function appendDelivery(job, at, eventsPerJob)
  local history = job.key .. ':events'
  local length = job.isNew and 0 or redis.call('RPUSHX', history, '["delivered",' .. at .. ']', '["acked",' .. at .. ']')
  if length == 0 then return 2 end -- They follow from the record.
  return keepNewest(job, history, length, eventsPerJob) - 1
end

-- Drop the oldest events of a history with too many, and return the seq of the last event.
local function keepNewest(job, history, length, eventsPerJob)
  local excess = length - (tonumber(eventsPerJob) - 1)
  if excess > 0 then
    redis.call('LTRIM', history, excess, -1)
    redis.call('HSET', job.key, 'eventsDropped', formatInteger(job.eventsDropped + excess))
  end
  return 1 + job.eventsDropped + length
end

-- Record an event of a job, and the status that it leads to. First write the history, because it may begin with values
-- that are still in the record. Then write the record's status and times, and any further fields (name, value, …).
-- Publish last.
local function recordEvent(job, at, type, status, data, eventsPerJob, ...)
  local seq = appendEvent(job, at, type, data, eventsPerJob)
  redis.call('HSET', job.key, 'status', status, 'updatedAt', at, ...)
  publish(job, seq, type, status, at, data)
end

-- Record the event with which a job is requeued, with further fields of the record (name, value, …). Its record is then
-- as if it had not been delivered. The times go after the history is written, which may begin with them.
local function recordReturn(job, at, type, status, data, eventsPerJob, ...)
  local seq = appendEvent(job, at, type, data, eventsPerJob)
  redis.call('HSET', job.key, 'status', status, 'updatedAt', at, ...)
  redis.call('HDEL', job.key, 'deliveredAt', 'startedAt', 'runBy', 'workerId', 'ackWithinMs')
  publish(job, seq, type, status, at, data)
end
