-- Take the oldest entry of a queue out of it; nil when there is none.
local function takeFirst(queue)
  return redis.call('ZPOPMIN', queue)[1]
end

-- The same over several queues, one entry for each call of what it returns. Entries are read in portions; a spent portion
-- has left its queue, so the next one starts at the head again.
local function takingFrom(keys, portion)
  local queues = {}
  for i, key in ipairs(keys) do queues[i] = { key = key } end

  -- The oldest entry of a queue that was not taken yet.
  local function head(q)
    if not q.entries or (q.at > #q.entries and #q.entries > 0) then
      q.entries = redis.call('ZRANGE', q.key, 0, portion - 1, 'WITHSCORES')
      q.at = 1
    end
    return q.entries[q.at], tonumber(q.entries[q.at + 1])
  end

  return function()
    local oldest, first, firstOrder
    for _, q in ipairs(queues) do
      local id, order = head(q)
      if id and (not first or order < firstOrder) then oldest, first, firstOrder = q, id, order end
    end
    if not first then return nil end
    oldest.at = oldest.at + 2
    redis.call('ZREM', oldest.key, first)
    return first
  end
end
