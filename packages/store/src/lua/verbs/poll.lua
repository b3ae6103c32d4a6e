-- ARGV notAfter count isAcked ackWithinMs workerId names...
-- REPLY OK jobs?...
-- REPLY MORE jobs?...
-- ERRORS TOO_LATE
--
-- Claim up to `count` pending jobs of one space, oldest first across all requested names that are not paused. MORE means that
-- paused jobs have used up the rounds of this poll; another poll continues behind them.
--   count        1 to 50
--   isAcked      '1' for autoAck, '' otherwise
--   ackWithinMs  delivery window of the jobs; '' for DELIVERY_TIMEOUT_SECONDS
--   workerId     worker to show on the jobs; '' for none
--   names        job names, at most 100; none for any
--   jobs         values of all claimed jobs; see appendClaimed
if isTooLate(nowText, notAfter) then return { 'TOO_LATE' } end
local wanted, prefix, paused = numberOf(count), base .. 'space:' .. space .. '/', nil
local queue = prefix .. 'queue' -- the queue of a name is <queue>/<name>
if isAnythingPaused(prefix) then
  paused = pausedNames(prefix)
end
local takeOldest
local source = queue
if names[1] then
  local queues = {}
  for _, name in ipairs(names) do queues[#queues + 1] = not (paused and paused[name]) and queue .. '/' .. name or nil end
  source, takeOldest = queues[1], queues[2] and oldestFirst(queues, math.ceil(wanted / #queues))
end
if not source or (paused and paused['']) then return { 'OK' } end
local ackMs, more
if workerId ~= '' or ackWithinMs ~= '' then
  ackMs, more = tonumber(ackWithinMs), {}
  if workerId ~= '' then more = { 'workerId', workerId } end
  if ackMs then more[#more + 1], more[#more + 2] = 'ackWithinMs', ackWithinMs end
end
local mark = markDelivered
if isAcked ~= '' then
  mark = markRunning
end

local reply, claimed, id = { 'OK' }, 0, nil
for _ = 1, wanted + (paused and 100 or 50) do -- extra rounds for entries that have no pending job or are paused
  if claimed == wanted then break end
  if takeOldest then id = takeOldest() else id = popOldest(source, wanted) end
  if not id then break end
  local isValid, job, payload = pcall(loadJob, base, id, 'payload')
  -- Any other entry has now left this queue. A job of a paused name stays in the queue of its name, where it hides no other job.
  if isValid and job.status == 'pending' and not (paused and paused[job.name]) then
    leave(names[1] and queue or queue .. '/' .. job.name, id) -- the job's other queue
    if more then mark(job, nowMs, nowText, ackMs, unpack(more)) else mark(job, nowMs, nowText) end
    appendClaimed(reply, job, payload, claimed == 0 and nowMs)
    claimed = claimed + 1
  end
end
if paused and id and claimed < wanted then reply[1] = 'MORE' end
return reply
