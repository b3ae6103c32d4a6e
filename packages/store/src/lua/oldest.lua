-- Remove the oldest entry of a queue and return it; nil when the queue is empty. In a group, several entries are read at once;
-- the caller skips a job that another verb has since taken, because it is no longer pending.
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

-- Return a function that removes the oldest entry of several queues and returns it; nil when they are empty. Entries are read in
-- portions. All entries of a used-up portion have left their queue, so the next portion starts at the head.
local function oldestFirst(keys, portion)
  -- Advance to the oldest entry of a queue that is not yet taken, and return its ID; nil after the last.
  local function fill(q)
    if not q.entries or (q.at > #q.entries and #q.entries > 0) then
      q.entries = redis.call('ZRANGE', written(q.key), 0, portion - 1, 'WITHSCORES')
      q.at = 1
    end
    -- Convert once per entry, because each job is compared across all queues.
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
