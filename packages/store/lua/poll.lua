-- KEYS queue
-- ARGV base count deliveryTimeoutMs eventsPerJob names...
--
-- Hand out up to `count` pending jobs of one space, oldest first over all the names asked for.
--   queue    the space's queue; the queue of a name is <queue>/<name>
--   count    1 to 50
--   names    job names, at most 100; none for any
-- Returns {'OK', claimed, claimed, …}; see deliver for their fields.
-- @include clock job move_status queue publish record deliver
local queues = {}
for i, name in ipairs(names) do queues[i] = { key = queue .. '/' .. name } end
if #queues == 0 then queues[1] = { key = queue } end

local wanted = tonumber(count)
local portion = math.ceil(wanted / #queues)

-- Oldest entry of a queue that was not looked at yet. Entries are read in portions; a spent portion has left
-- the queue, so the next one starts at its head again.
local function head(q)
  if not q.entries or (q.at > #q.entries and #q.entries > 0) then
    q.entries = redis.call('ZRANGE', q.key, 0, portion - 1, 'WITHSCORES')
    q.at = 1
  end
  return q.entries[q.at], tonumber(q.entries[q.at + 1])
end

local function oldest()
  local first, firstOrder
  for _, q in ipairs(queues) do
    local id, order = head(q)
    if id and (not first or order < firstOrder) then first, firstOrder = q, order end
  end
  return first
end

local now, at = nowMs()
local claimed = {}
for _ = 1, wanted + 50 do -- 50 to spare for entries without a pending job
  local q = #claimed < wanted and oldest()
  if not q then break end
  local id = q.entries[q.at]
  q.at = q.at + 2
  local found, payload, checkpoint = loadJob(base .. 'job:' .. id, base, id, 'payload', 'checkpoint')
  if found.status == 'pending' then
    dequeue(found)
    deliver(found, now, at, deliveryTimeoutMs, eventsPerJob)
    claimed[#claimed + 1] = claimedJob(found, payload, checkpoint)
  else
    redis.call('ZREM', q.key, id) -- never strand the queue behind an entry whose record is gone
  end
end
return { 'OK', unpack(claimed) } -- a constructor, see list.lua
