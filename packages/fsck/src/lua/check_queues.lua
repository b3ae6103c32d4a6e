-- Events after which the claim order of a job is its creation order. After any other, it can be later: `replaced` leaves the
-- job where it was.
local AT_CREATION = { delivery_timeout = true, released = true }

-- Check whether the claim order of a pending job can be later than its creation order. The record does not show that a pending
-- job was rescheduled, so its last event decides, which only damage can remove.
local function mayBeLater(r)
  if r.updatedAt == '0' then return false end
  local last = redis.call('LINDEX', r.key .. ':events', -1)
  return not last or not AT_CREATION[typeOf(last)]
end

-- Check both queues of a pending job. Its score is the same in both: the creation order, or a later order (for example after a
-- failed attempt), minus the head start. A missing head start is a fault, because the job would wait too long; it is found
-- unless the score is also valid with the head start. A job of a paused name can be in the queue of its name only.
local function checkQueues(found, r, base, nowMs, queues)
  local order, headStart = tonumber(r.order), tonumber(r.priority or 0) * 1024000
  local last = scoreIn(base .. 'spaces', r.space) or 0
  -- A claim order is never in the future, unless the clock stepped back.
  local newest = math.max(nowMs * 1024 + 1023, last < LAST_ORDER and last or 0)
  local function fits(score)
    local claim = score and score + headStart
    local isLater = claim and claim > order and claim <= newest and mayBeLater(r)
    return (isLater or claim == order) and claim or nil
  end
  local right = fits(scoreIn(queues[1], r.id)) or fits(scoreIn(queues[2], r.id)) or (not mayBeLater(r) and order) or nil
  -- Check this first, because it determines the end of the queue.
  checkOrder(found, base, r.space, right or order, nowMs)
  local function enter(queue)
    redis.call('ZREM', queue, r.id)
    right = right or tonumber(nextOrder(base, r.space, nowMs * 1024)) -- the end of the queue, as after a retry
    redis.call('ZADD', queue, formatInteger(right - headStart), r.id)
  end
  for _, queue in ipairs(queues) do
    local score = scoreIn(queue, r.id)
    local mayLack = queue == queues[1] and not score and redis.call('HEXISTS', base .. 'space:' .. r.space .. '/paused', r.name) == 1
    if not mayLack and (not score or not right or score ~= right - headStart) then
      local detail = score and 'at ' .. formatInteger(score) .. ', out of order' or 'the job is pending'
      find(found, score and 'entry_misplaced' or 'entry_missing', queue, detail, found.additions, function() enter(queue) end)
    end
  end
end
