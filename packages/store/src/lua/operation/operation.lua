-- The record of an operation has these fields:
--   status     running, done or canceled
--   statuses   of its jobs, in the order in which they are examined, with blanks in between
--   lowest, highest   creation order of its jobs
--   cursor     '<status> <order>': the last job that was examined in the index of that status, '-inf' for none yet.
--              With `ids`: 'ids <n>', the number of ids not examined yet. 'end' after the last job
--   looked, changed, skipped   counts; absent for 0
--   left       count, once it is no longer running; absent for 0

-- Status of a job after an action; absent where it depends on the job.
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

-- End an operation.
local function endOperation(base, id, status, nowText, left)
  redis.call('ZREM', base .. 'operations', id) -- first, see replaceEntry
  redis.call('HSET', base .. 'operation:' .. id, 'status', status, 'finishedAt', nowText, 'left', formatInteger(left))
end
