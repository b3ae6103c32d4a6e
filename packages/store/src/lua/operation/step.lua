-- Read the next jobs of a status index: { ID, creation order } of each.
--   order   creation order of the job examined last; '-inf' for none
local function nextJobs(index, order, lowest, highest, most)
  local low = order == '-inf' and lowest or '(' .. order
  local found, page = redis.call('ZRANGEBYSCORE', index, low, highest, 'WITHSCORES', 'LIMIT', 0, most), {}
  for i = 1, #found, 2 do page[#page + 1] = { found[i], found[i + 1] } end
  return page
end

-- Read a job and return it if it passes the filter of an operation, except for its status; otherwise return nil.
--   filter.names   names as the keys of a table; empty for any
local function matchingJob(base, id, filter)
  local job, tags = loadJob(base, id, 'tags')
  local order = tonumber(job.order or -1)
  if job.space ~= filter.space or order > tonumber(filter.highest) then return nil end
  if filter.lowest ~= '-inf' and order < tonumber(filter.lowest) then return nil end
  if next(filter.names) and not filter.names[job.name] then return nil end
  return hasTags(tags, filter.tags) and job or nil
end

-- Record a step of an operation, and end the operation after its last job or at its limit. Return its status.
--   counts   numbers of jobs that the step has examined, changed and skipped
local function recordStep(base, id, nowText, cursor, counts)
  local key = base .. 'operation:' .. id
  local fields = { 'looked', 'changed', 'skipped' }
  local before = redis.call('HMGET', key, 'looked', 'changed', 'skipped', 'limit', 'space', 'statuses', 'highest')
  for i, field in ipairs(fields) do
    counts[i] = counts[i] + tonumber(before[i] or 0)
    redis.call('HSET', key, field, formatInteger(counts[i]))
  end
  redis.call('HSET', key, 'cursor', cursor)
  if cursor ~= 'end' and counts[2] < tonumber(before[4] or math.huge) then return 'running' end
  local left = operationLeft(base .. 'space:' .. before[5] .. '/', before[6], cursor, before[7])
  endOperation(base, id, 'done', nowText, left)
  return 'done'
end

-- Count a change of status in a list of: status before, status after, job name, number of jobs.
local function countMove(moves, job, after)
  for i = 1, #moves, 4 do
    if moves[i] == job.status and moves[i + 1] == after and moves[i + 2] == job.name then
      moves[i + 3] = moves[i + 3] + 1
      return
    end
  end
  for _, value in ipairs({ job.status, after, job.name, 1 }) do moves[#moves + 1] = value end
end
