-- KEYS index
-- ARGV base afterOrder limit
-- REPLY OK examined:number lastOrder reopened:number
--
-- Restart windows after the clock of Redis has stepped back: those of jobs whose worker's last call, or the start of whose attempt,
-- is now in the future. Otherwise these windows would be longer by the size of the step.
--   index        a space's /status/delivered or /status/running
--   afterOrder   creation order of the job checked last; '-inf' to begin
--   limit        maximum number of jobs, at most 100
--   reopened     number of restarted windows
local nowMs = now()
local markedAt = tonumber(redis.call('GET', base .. 'stepped') or 0)

local function reopenIfAhead(id)
  local job, deliveredAt, ackWithinMs = loadJob(base, id, 'deliveredAt', 'ackWithinMs')
  if job.status ~= 'delivered' and job.status ~= 'running' then return 0 end -- a stray entry
  local ms = windowMs(job, ackWithinMs)
  local due = tonumber(redis.call('ZSCORE', base .. 'deadlines', id) or 0)
  local maxRunSeconds, runBy = option(job, 'm', 'maxRunSeconds'), option(job, 'm', 'runBy')
  -- A heartbeat after the step restarts the window, but not the run limit.
  local isRunAhead = job.status == 'running' and maxRunSeconds and runBy
    and tonumber(runBy) > nowMs + math.ceil(maxRunSeconds * 1000)
  if due <= nowMs + ms and not isRunAhead then return 0 end
  -- The window may be long for another reason: DELIVERY_TIMEOUT_SECONDS was longer at the delivery. But if the mark is in the
  -- future, expire.lua restarted the window after a step forward.
  if job.status == 'delivered' and tonumber(deliveredAt) <= nowMs and markedAt <= nowMs then return 0 end
  if isRunAhead then runBy = startRun(job, nowMs, maxRunSeconds) end
  reopenWindow(job, nowMs, ms, runBy)
  return 1
end

local page = redis.call('ZRANGEBYSCORE', index, '(' .. afterOrder, '+inf', 'WITHSCORES', 'LIMIT', 0, limit)
local reopened = 0
for i = 1, #page, 2 do
  local ok, count = pcall(reopenIfAhead, page[i]) -- Skip an invalid record: fsck reports it.
  if ok then reopened = reopened + count end
end
return { 'OK', #page / 2, page[#page] or afterOrder, reopened }
