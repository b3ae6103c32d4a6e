-- End a delivery that was not acked in time: back to its place by creation, or dead when that was too many in a row.
-- `timeouts` is how many there were before, as the record has it. Both ways begin with the ZREM of moveStatus. Returns the
-- status that the job has now.
local function expireDelivery(job, timeouts, now, maxDeliveries, eventsPerJob, retentionMs)
  local count = tonumber(stored(timeouts) or 0) + 1
  if count >= tonumber(maxDeliveries) then
    local failure = '"Job was delivered ' .. maxDeliveries .. ' times and never acknowledged"'
    die(job, now, failure, eventsPerJob, retentionMs, 'deliveryTimeouts', digits(count))
    return 'dead'
  end
  moveStatus(job, 'pending')
  enqueue(job, job.order)
  redis.call('ZREM', job.base .. 'deadlines', job.id)
  takeBack(job, digits(now), 'delivery_timeout', 'null', eventsPerJob, 'deliveryTimeouts', digits(count))
  return 'pending'
end
