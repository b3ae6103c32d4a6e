-- KEYS queue
-- ARGV base count deliveryTimeoutMs eventsPerJob deadline names...
--
-- Hand out up to `count` pending jobs of one space, oldest first over all the names asked for.
--   queue    the space's queue; the queue of a name is <queue>/<name>
--   count    1 to 50
--   deadline see isTooLate
--   names    job names, at most 100; none for any
-- Returns {'TOO_LATE'}, or {'OK', claimed, claimed, …}; see deliver for their fields.
-- @include clock job move_status implied publish record deliver take
local now, at = nowMs()
if isTooLate(now, deadline) then return { 'TOO_LATE' } end

local wanted = tonumber(count)
local queues = { #names == 0 and queue or nil }
for i, name in ipairs(names) do queues[i] = queue .. '/' .. name end
local takeOldest = #queues > 1 and takingFrom(queues, math.ceil(wanted / #queues))

local claimed = {}
for _ = 1, wanted + 50 do -- 50 to spare for entries without a pending job
  if #claimed == wanted then break end
  local id
  if takeOldest then id = takeOldest() else id = takeFirst(queues[1]) end
  if not id then break end
  local found, payload, checkpoint = loadJob(base .. 'job:' .. id, base, id, 'payload', 'checkpoint')
  if found.status == 'pending' then -- else the entry is gone, and strands the queue no more
    redis.call('ZREM', #names == 0 and queue .. '/' .. found.name or queue, id) -- the other queue that it stands in
    deliver(found, now, at, deliveryTimeoutMs, eventsPerJob)
    claimed[#claimed + 1] = claimedJob(found, payload, checkpoint)
  end
end
return { 'OK', unpack(claimed) } -- a constructor, see list.lua
