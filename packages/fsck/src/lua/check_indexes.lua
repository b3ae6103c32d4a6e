-- Check both queues of a pending job. It is in both at the same place: at its creation or, once an attempt has failed,
-- later.
local function checkQueues(found, r, base, nowMs, queues)
  local order = tonumber(r.order)
  local function fits(score)
    local isLater = score and r.attempt and score > order and score < LAST_ORDER
    return (isLater or score == order) and score or nil
  end
  local right = fits(scoreIn(queues[1], r.id)) or fits(scoreIn(queues[2], r.id)) or (not r.attempt and order) or nil
  -- Check this first, because the end of the queue follows from it.
  checkOrder(found, base, r.space, right or order)
  local function enter(queue)
    redis.call('ZREM', queue, r.id)
    right = right or tonumber(nextOrder(base, r.space, nowMs * 1024)) -- the end of the queue, as after a retry
    redis.call('ZADD', queue, formatInteger(right), r.id)
  end
  for _, queue in ipairs(queues) do
    local score = scoreIn(queue, r.id)
    if not score or score ~= right then
      local detail = score and 'at ' .. formatInteger(score) .. ', out of order' or 'the job is pending'
      find(found, score and 'entry_misplaced' or 'entry_missing', queue, detail, found.additions, function() enter(queue) end)
    end
  end
end

-- Check a job in every index of its space: those that it belongs in, and the others.
local function checkIndexes(found, r, base, nowMs)
  local space = base .. 'space:' .. r.space
  mustBeIn(found, space .. '/jobs', r.id, r.order)
  for _, status in ipairs(STATUSES) do
    local index = space .. '/status/' .. status
    if status == r.status then mustBeIn(found, index, r.id, r.order)
    else mustNotBeIn(found, index, r.id, 'the job is ' .. r.status) end
  end
  local queues = { space .. '/queue', space .. '/queue/' .. r.name }
  if r.status == 'pending' then return checkQueues(found, r, base, nowMs, queues) end
  for _, queue in ipairs(queues) do mustNotBeIn(found, queue, r.id, 'the job is ' .. r.status) end
  checkOrder(found, base, r.space, tonumber(r.order))
end
