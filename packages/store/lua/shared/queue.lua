-- A claimable job stands in two queues: its space's, and its space's for its name.
local function enqueue(job, order)
  local queue = job.base .. 'space:' .. job.space .. '/queue'
  redis.call('ZADD', queue, order, job.id)
  redis.call('ZADD', queue .. '/' .. job.name, order, job.id)
end

local function dequeue(job)
  local queue = job.base .. 'space:' .. job.space .. '/queue'
  redis.call('ZREM', queue, job.id)
  redis.call('ZREM', queue .. '/' .. job.name, job.id)
end
