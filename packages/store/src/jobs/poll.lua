-- KEYS queue
-- ARGV base count deliveryTimeoutMs eventsPerJob notAfter names...
-- REPLY OK jobs?[]...
-- ERRORS TOO_LATE
--
-- Claim up to `count` pending jobs of one space, oldest first over all requested names.
--   queue     the space's queue; the queue of a name is <queue>/<name>
--   count     1 to 50
--   notAfter  see isTooLate
--   names     job names, at most 100; none for any
--   jobs      see claimedJob
local nowMs, nowText = now()
if isTooLate(nowMs, notAfter) then return { 'TOO_LATE' } end

local wanted = tonumber(count)
local queues = { #names == 0 and queue or nil }
for i, name in ipairs(names) do queues[i] = queue .. '/' .. name end
local takeOldest = #queues > 1 and oldestFirst(queues, math.ceil(wanted / #queues))

local claimed = {}
for _ = 1, wanted + 50 do -- 50 to spare for entries without a pending job
  if #claimed == wanted then break end
  local id
  if takeOldest then id = takeOldest() else id = takeFirst(queues[1]) end
  if not id then break end
  local job, payload, checkpoint, takeBacks = loadJob(base .. 'job:' .. id, base, id, 'payload', 'checkpoint', 'takeBacks')
  if job.status == 'pending' then -- otherwise the entry is stray, and is gone from the queue now
    redis.call('ZREM', #names == 0 and queue .. '/' .. job.name or queue, id) -- the job's other queue
    markDelivered(job, nowMs, nowText, deliveryTimeoutMs, eventsPerJob)
    claimed[#claimed + 1] = claimedJob(job, payload, checkpoint, takeBacks)
  end
end
return { 'OK', unpack(claimed) } -- a constructor, see list.lua
