-- Remove the oldest entry of a queue and return it; nil when it is empty. A script for several jobs reads some at once: one
-- that another verb takes in between is no longer pending.
local function popOldest(queue, wanted)
  if not batch then return redis.call('ZPOPMIN', queue)[1] end
  local at = batch.queue == queue and batch.next or nil
  if not at or not batch.heads[at] then
    batch.queue, batch.heads, at = queue, redis.call('ZRANGE', written(queue), '0', wanted > 4 and wanted - 1 or '3'), 1
  end
  local id = batch.heads[at]
  batch.next = at + 1
  if id then leave(queue, id) end
  return id
end

-- Return a function that removes the oldest entry of several queues at each call, and returns it; nil when there is
-- none. Entries are read in portions; a spent portion has left its queue, so the next one starts at the head again.
local function oldestFirst(keys, portion)
  -- Go to the oldest entry of a queue that was not taken yet; nil after the last.
  local function fill(q)
    if not q.entries or (q.at > #q.entries and #q.entries > 0) then
      q.entries = redis.call('ZRANGE', written(q.key), 0, portion - 1, 'WITHSCORES')
      q.at = 1
    end
    -- Convert once for each entry: it is compared with those of all other queues for each job.
    q.id, q.order = q.entries[q.at], tonumber(q.entries[q.at + 1])
    return q.id
  end

  local queues, taken, index = {}, nil, nil
  for _, key in ipairs(keys) do
    local q = { key = key }
    if fill(q) then queues[#queues + 1] = q end
  end
  return function()
    if taken and not fill(taken) then table.remove(queues, index) end
    taken, index = queues[1], 1
    for i = 2, #queues do
      if queues[i].order < taken.order then taken, index = queues[i], i end
    end
    if not taken then return nil end
    taken.at = taken.at + 2
    leave(taken.key, taken.id)
    return taken.id
  end
end
