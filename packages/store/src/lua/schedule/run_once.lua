-- Do a run, unless another process has done it or the schedule has changed. Return its result; see run_schedules.lua.
--   fields   fields of the job (name, value, …)
local function runOnce(base, run, fields)
  local member = run.space .. '/' .. run.id
  local key, settings = base .. 'schedule:' .. member, settingsText(base, run.space)
  local version, nextAt, lastJobId = unpack(redis.call('HMGET', key, 'version', 'nextAt', 'lastJobId'))
  local isOnDemand = run.expected == ''
  if version ~= run.version or not isOnDemand and nextAt ~= run.expected then return runResult('OVERTAKEN') end
  if isMemoryFull(base) and run.jobId ~= '' then return runResult('STORAGE_FULL') end

  local limits = (maxPendingIn(settings) or '') .. (maxBytesIn(settings) and 'b' or '')
  run.extras = '- ' .. (limits == '' and '-' or limits) .. ' - state'
  if maxBytesIn(settings) then run.options = run.options .. 'b' end
  if not isOnDemand then leave(base .. 'schedules', member) end -- first; see replaceEntry
  local done = run.jobId == '' and { 'SKIPPED', '' } or startScheduled(base, run, fields, lastJobId)
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
    enter(base .. 'schedules', run.dueAt, member)
  end
  return done
end
