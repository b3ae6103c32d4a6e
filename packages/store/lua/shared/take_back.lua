-- Record the event that puts a job back into its queue, with further fields of the record (name, value, …): it is as if it
-- had not been handed out. Not by record, since the history may begin with the times that go.
local function takeBack(job, at, type, data, eventsPerJob, ...)
  local seq = append(job, at, type, data, eventsPerJob)
  redis.call('HSET', job.key, 'status', 'pending', 'updatedAt', at, ...)
  redis.call('HDEL', job.key, 'deliveredAt', 'startedAt')
  publish(job, seq, type, 'pending', at, data)
end
