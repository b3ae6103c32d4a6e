-- Build the result of a run; see run_schedules.lua.
local function runResult(...)
  return { ... }
end

-- Create the job of a run.
local function createRun(base, run, fields)
  local reply = create(base, run.space, '', run.jobId, run.name, run.options, run.extras, unpack(fields))
  local outcome = reply[1]
  if outcome == 'CREATED' then return runResult(outcome, '', run.jobId, '') end
  if outcome == 'REPLACED' then return runResult(outcome, '', reply[2], reply[4]) end
  if outcome == 'RETURNED' then return runResult('SKIPPED', 'JOB_NOT_UNIQUE', reply[2], '') end
  if outcome == 'NOT_UNIQUE' then return runResult('SKIPPED', 'JOB_NOT_UNIQUE', reply[2], reply[3]) end
  return runResult('SKIPPED', outcome, '', '')
end

-- Create the job of a run. A job to replace is killed after that, because the new one may be refused; but before it if its unique
-- key is in the way.
local function startScheduled(base, run, fields, lastJobId)
  if redis.call('EXISTS', base .. 'job:' .. run.jobId) == 1 then return runResult('EXISTS', '', run.jobId, '') end
  local last = lastJobId and loadJob(base, lastJobId) or {}
  local isOpen = last.status and not (last.status == 'completed' or last.status == 'dead' or last.status == 'killed')
  if isOpen and run.overlap == 'skip' then return runResult('SKIPPED', 'OVERLAP', lastJobId, last.status) end
  if not isOpen or run.overlap == 'allow' then return createRun(base, run, fields) end

  local done = createRun(base, run, { unpack(fields) })
  local isInTheWay = done[2] == 'JOB_NOT_UNIQUE' and done[3] == lastJobId
  if done[1] ~= 'CREATED' and not isInTheWay then return done end
  kill(base, run.space, lastJobId, '"Replaced by the next run of schedule ' .. run.id .. '"')
  if isInTheWay then done = createRun(base, run, fields) end
  for _, value in ipairs({ lastJobId, last.status, last.name }) do done[#done + 1] = value end
  return done
end
