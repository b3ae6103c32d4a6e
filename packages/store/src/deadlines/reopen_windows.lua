-- KEYS index
-- ARGV base afterOrder limit
-- REPLY OK examined:number lastOrder reopened:number
--
-- After Redis' clock has stepped back: give one more window, from now on, to jobs whose worker's last call is in the
-- future, or whose attempt began there. Otherwise they would wait, or run, for as long as the step was.
--   index        a space's /status/delivered or /status/running
--   afterOrder   that of the last job checked; '-inf' to begin
--   limit        jobs at most; at most 100
--   reopened     jobs that were given a window
local nowMs = now()
local markedAt = tonumber(redis.call('GET', base .. 'stepped') or 0)

local function reopenIfAhead(id)
  local job, deliveredAt, ackWithinMs = loadJob(base, id, 'deliveredAt', 'ackWithinMs')
  if job.status ~= 'delivered' and job.status ~= 'running' then return 0 end -- A stray entry.
  local ms = windowMs(job, ackWithinMs)
  local due = tonumber(redis.call('ZSCORE', base .. 'deadlines', id) or 0)
  local maxRunSeconds, runBy = option(job, 'm', 'maxRunSeconds'), option(job, 'm', 'runBy')
  -- A heartbeat after the step has opened the window again, but does not change when the attempt must end.
  local isRunAhead = job.status == 'running' and maxRunSeconds and runBy
    and tonumber(runBy) > nowMs + math.ceil(maxRunSeconds * 1000)
  if due <= nowMs + ms and not isRunAhead then return 0 end
  -- It may have been delivered when DELIVERY_TIMEOUT_SECONDS was longer. Or expire gave it a window after a step forward,
  -- of which the mark is in the future now.
  if job.status == 'delivered' and tonumber(deliveredAt) <= nowMs and markedAt <= nowMs then return 0 end
  if isRunAhead then runBy = startRun(job, nowMs, maxRunSeconds) end
  reopenWindow(job, nowMs, ms, runBy)
  return 1
end

local page = redis.call('ZRANGEBYSCORE', index, '(' .. afterOrder, '+inf', 'WITHSCORES', 'LIMIT', 0, limit)
local reopened = 0
for i = 1, #page, 2 do
  local ok, count = pcall(reopenIfAhead, page[i]) -- Skip a record that is not valid: fsck reports it.
  if ok then reopened = reopened + count end
end
return { 'OK', #page / 2, page[#page] or afterOrder, reopened }
