-- KEYS schedules
-- ARGV base items...
-- REPLY OK results[][]
-- REPLICATED
--
-- Do runs of schedules of one partition: create their jobs, and set their next times. A run is done only once, because it names
-- the time that it does. It creates its job only once, because the ID of the job follows from that time.
--   schedules   see keys.ts
--   items       for each run:
--     space, id, version   the schedule as it was read
--     expected      its next time; '' for a run on demand, which does not change the next time
--     nextAt        next time after this run, '' for none
--     dueAt         when that time fires, epoch ms; '' for none
--     missed, missedAt   number of times that were missed, and the latest of these
--     at            time of the run, epoch ms
--     overlap       `skip`, `allow` or `replace`
--     jobId         ID of its job; '' for none
--     name, options, count, fields…   of the job, as create.lua takes them; `count` is the number of values in `fields`
--   results     for each run: its outcome, reason, ID and status of a job, and if the last job was killed its ID, status and name
--     CREATED, EXISTS   in this run, or in an earlier one
--     REPLACED    the job has this request now, and had this status before
--     SKIPPED     for this reason ('' if missed), which is about this job
--     OVERTAKEN, STORAGE_FULL, BROKEN   it did nothing; a broken schedule is postponed by a minute
local isFull, results, at = isMemoryFull(base), {}, 1
local function result(...) return { ... } end
local ENDED = { completed = true, dead = true, killed = true }

local function createRun(run, fields)
  local reply = create(base, run.space, '', run.jobId, run.name, run.options, run.extras, unpack(fields))
  local outcome = reply[1]
  if outcome == 'CREATED' then return result(outcome, '', run.jobId, '') end
  if outcome == 'REPLACED' then return result(outcome, '', reply[2], reply[4]) end
  if outcome == 'RETURNED' then return result('SKIPPED', 'JOB_NOT_UNIQUE', reply[2], '') end
  if outcome == 'NOT_UNIQUE' then return result('SKIPPED', 'JOB_NOT_UNIQUE', reply[2], reply[3]) end
  return result('SKIPPED', outcome, '', '')
end

-- Create the job of a run. A job to replace is killed after that, because the new one may be refused; but before it if its unique
-- key is in the way.
local function start(run, fields, lastJobId)
  if redis.call('EXISTS', base .. 'job:' .. run.jobId) == 1 then return result('EXISTS', '', run.jobId, '') end
  local last = lastJobId and loadJob(base, lastJobId) or {}
  local isOpen = last.status and not ENDED[last.status]
  if isOpen and run.overlap == 'skip' then return result('SKIPPED', 'OVERLAP', lastJobId, last.status) end
  if not isOpen or run.overlap == 'allow' then return createRun(run, fields) end

  local done = createRun(run, { unpack(fields) })
  local isInTheWay = done[2] == 'JOB_NOT_UNIQUE' and done[3] == lastJobId
  if done[1] ~= 'CREATED' and not isInTheWay then return done end
  kill(base, run.space, lastJobId, '"Replaced by the next run of schedule ' .. run.id .. '"')
  if isInTheWay then done = createRun(run, fields) end
  for _, value in ipairs({ lastJobId, last.status, last.name }) do done[#done + 1] = value end
  return done
end

local function runOnce(run, fields)
  local member = run.space .. '/' .. run.id
  local key, settings = base .. 'schedule:' .. member, settingsText(base, run.space)
  local version, nextAt, lastJobId = unpack(redis.call('HMGET', key, 'version', 'nextAt', 'lastJobId'))
  local isOnDemand = run.expected == ''
  if version ~= run.version or not isOnDemand and nextAt ~= run.expected then return result('OVERTAKEN') end
  if isFull and run.jobId ~= '' then return result('STORAGE_FULL') end

  local limits = (maxPendingIn(settings) or '') .. (maxBytesIn(settings) and 'b' or '')
  run.extras = '- ' .. (limits == '' and '-' or limits) .. ' - '
  if maxBytesIn(settings) then run.options = run.options .. 'b' end
  if not isOnDemand then leave(schedules, member) end -- first; see replaceEntry
  local done = run.jobId == '' and { 'SKIPPED', '' } or start(run, fields, lastJobId)
  local outcome, reason = done[1], done[2]
  if outcome ~= 'SKIPPED' then redis.call('HSET', key, 'lastJobId', done[3]) end
  if isOnDemand then return done end

  if outcome == 'CREATED' or outcome == 'REPLACED' then
    redis.call('HINCRBY', key, 'fired', 1)
    redis.call('HSET', key, 'lastAt', run.at)
  end
  local skipped = run.missed + (reason == '' and 0 or 1)
  if skipped > 0 then
    redis.call('HINCRBY', key, 'skipped', skipped)
    redis.call('HSET', key, 'lastSkipped', reason == '' and run.missedAt .. ' MISSED' or run.at .. ' ' .. reason)
  end
  if run.nextAt == '' then
    redis.call('HDEL', key, 'nextAt')
  else
    redis.call('HSET', key, 'nextAt', run.nextAt)
    enter(schedules, run.dueAt, member)
  end
  return done
end

while items[at] do
  local run, fields = {}, {}
  run.space, run.id, run.version, run.expected, run.nextAt, run.dueAt, run.missed, run.missedAt = unpack(items, at, at + 7)
  run.at, run.overlap, run.jobId, run.name, run.options = unpack(items, at + 8, at + 12)
  local count = tonumber(items[at + 13])
  for i = 1, count do fields[i] = items[at + 13 + i] end
  at = at + 14 + count
  local isDone, done = pcall(runOnce, run, fields)
  if not isDone then
    replaceEntry(schedules, run.space .. '/' .. run.id, formatInteger(nowMs + 60000))
    done = { 'BROKEN' }
  end
  results[#results + 1] = done
end
return { 'OK', results }
