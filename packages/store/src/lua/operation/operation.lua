-- The record of an operation has these fields:
--   status     `running` until it is done or canceled
--   statuses   statuses of its jobs, in the order in which they are examined, separated by blanks
--   lowest, highest   range of the creation order of its jobs
--   cursor     '<status> <order>': creation order of the job examined last in the index of that status, '-inf' before the first.
--              With `ids`: 'ids <n>', the number of IDs that remain to be examined. 'end' after the last job
--   looked, changed, skipped   numbers of jobs; absent for 0
--   left       number of jobs not examined when the operation ended; absent for 0

-- Status of a job after an action; absent if it depends on the job.
local OPERATION_ENDS = { kill = 'killed', delete = 'none' }

-- Count the jobs that an operation has not examined yet.
local function operationLeft(space, statuses, cursor, highest)
  local at, order = string.match(cursor, '^(%S+) (%S+)$')
  if not at then return 0 end
  if at == 'ids' then return tonumber(order) end
  local left, isAhead = 0, false
  for status in string.gmatch(statuses, '%S+') do
    local after = isAhead and '-inf' or order
    isAhead = isAhead or status == at
    if isAhead then left = left + redis.call('ZCOUNT', space .. 'status/' .. status, '(' .. after, highest) end
  end
  return left
end

-- Move the running operations of a space behind those of other spaces, with this one last, so that spaces take turns. The
-- scores of one space differ by less than a millisecond.
local function passTurn(base, space, id, nowText)
  local running, others = base .. 'operations', {}
  for _, other in ipairs(redis.call('ZRANGE', base .. 'space:' .. space .. '/operations', 0, -1)) do
    local score = other ~= id and redis.call('ZSCORE', running, other)
    if score then others[#others + 1] = { tonumber(score), other } end
  end
  table.sort(others, function(one, other) return one[1] < other[1] end)
  leave(running, id) -- first; see replaceEntry
  for i, other in ipairs(others) do enter(running, nowText + i / 1000, other[2]) end
  enter(running, nowText + (#others + 1) / 1000, id)
end

-- End an operation.
local function endOperation(base, id, status, nowText, left)
  redis.call('ZREM', base .. 'operations', id) -- first; see replaceEntry
  redis.call('HSET', base .. 'operation:' .. id, 'status', status, 'finishedAt', nowText, 'left', formatInteger(left))
end
