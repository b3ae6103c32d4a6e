-- KEYS queue
-- ARGV base count deliveryTimeoutMs eventsPerJob notAfter isAcked ackWithinMs workerId names...
-- REPLY OK jobs?...
-- REPLY MORE jobs?...
-- ERRORS TOO_LATE
--
-- Claim up to `count` pending jobs of one space, oldest first over all requested names that are not paused.
--   queue        the space's queue; the queue of a name is <queue>/<name>
--   count        1 to 50
--   notAfter     see isTooLate
--   isAcked      '1' to ack the jobs at once, '' otherwise
--   ackWithinMs  their delivery window, instead of `deliveryTimeoutMs`; '' for that
--   workerId     to be shown on the jobs; '' for none
--   names        job names, at most 100; none for any
--   jobs         the values of all of them, see appendClaimed; with MORE, another poll continues behind the paused jobs
local nowMs, nowText = now()
if isTooLate(nowMs, notAfter) then return { 'TOO_LATE' } end

local wanted = tonumber(count)
local space, paused = string.sub(queue, 1, -6), nil -- without `queue`
if redis.call('EXISTS', space .. 'paused') == 1 then
  paused = pausedNames(space)
end
local queues = { #names == 0 and queue or nil }
for _, name in ipairs(names) do queues[#queues + 1] = not (paused and paused[name]) and queue .. '/' .. name or nil end
if not queues[1] or (paused and paused['']) then return { 'OK' } end
local takeOldest
if #queues > 1 then
  takeOldest = oldestFirst(queues, math.ceil(wanted / #queues))
end

local more = {}
if workerId ~= '' then more = { 'workerId', workerId } end
if ackWithinMs ~= '' then deliveryTimeoutMs, more[#more + 1], more[#more + 2] = ackWithinMs, 'ackWithinMs', ackWithinMs end
local mark
if isAcked == '' then
  mark = markDelivered
end
if isAcked ~= '' then -- not `else`, because only a condition declares the functions of its branch
  mark = markRunning
end

local values, claimed, id = {}, 0
for _ = 1, wanted + (paused and 100 or 50) do -- to spare for entries without a pending job, and for paused ones
  if claimed == wanted then break end
  if takeOldest then id = takeOldest() else id = takeFirst(queues[1], wanted) end
  if not id then break end
  local isValid, job, payload = pcall(loadJob, base .. 'job:' .. id, base, id, 'payload')
  -- Any other entry is gone from this queue now. A job of a paused name stays in that of its name, and hides no other.
  if isValid and job.status == 'pending' and not (paused and paused[job.name]) then
    redis.call('ZREM', #names == 0 and queue .. '/' .. job.name or queue, id) -- the job's other queue
    mark(job, nowMs, nowText, deliveryTimeoutMs, eventsPerJob, unpack(more))
    appendClaimed(values, job, payload, nowMs)
    claimed = claimed + 1
  end
end
return { paused and id and claimed < wanted and 'MORE' or 'OK', unpack(values) } -- a constructor, see list.lua
