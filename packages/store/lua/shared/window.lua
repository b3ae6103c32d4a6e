-- Open the execution window again from now on: the attempt fails when it closes without another sign of life.
local function openWindow(job, now)
  local closes = now + math.ceil(tonumber(job.timeoutSeconds) * 1000)
  redis.call('ZADD', job.base .. 'deadlines', digits(closes), job.id)
end
