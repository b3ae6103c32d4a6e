-- Move a job to another status index, at its place by creation. Begins with a ZREM on purpose: once a script
-- has removed something, Redis lets the rest of it pass even when memory is full.
local function moveStatus(job, to)
  local index = job.base .. 'space:' .. job.space .. '/status/'
  redis.call('ZREM', index .. job.status, job.id)
  redis.call('ZADD', index .. to, job.order, job.id)
end
