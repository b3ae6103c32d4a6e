-- Orders are whole numbers up to here, see order.lua.
local LAST_ORDER = 2 ^ 53

-- The last order of a space must not be below that of its newest job, or a job to come would stand before it.
local function checkOrder(found, base, space, newest)
  local spaces = base .. 'spaces'
  local last = scoreIn(spaces, space)
  if last and last >= newest then return end
  local detail = space .. (last and ' is at ' .. digits(last) .. ', below its newest job' or ' is not listed, and has jobs')
  find(found, last and 'space_behind' or 'space_missing', spaces, detail, found.additions, function()
    -- Not only above this job, or each newer one would be the same fault again.
    for _, index in ipairs({ '/jobs', '/queue' }) do
      local top = redis.call('ZREVRANGE', base .. 'space:' .. space .. index, 0, 0, 'WITHSCORES')
      local order = tonumber(top[2] or 0)
      if order < LAST_ORDER then newest = math.max(newest, order) end
    end
    place(spaces, digits(math.max(scoreIn(spaces, space) or 0, newest)), space)
  end)
end

-- Every index of its space that a job belongs in, and those that it does not.
local function checkPlaces(found, r, base, now)
  local space = base .. 'space:' .. r.space
  mustBeIn(found, space .. '/jobs', r.id, r.order)
  for _, status in ipairs(STATUSES) do
    local index = space .. '/status/' .. status
    if status == r.status then mustBeIn(found, index, r.id, r.order)
    else mustNotBeIn(found, index, r.id, 'the job is ' .. r.status) end
  end

  local queues = { space .. '/queue', space .. '/queue/' .. r.name }
  local order = tonumber(r.order)
  local newest = order
  if r.status ~= 'pending' then
    for _, queue in ipairs(queues) do mustNotBeIn(found, queue, r.id, 'the job is ' .. r.status) end
  else
    -- Where it was created, or, once an attempt has failed, later. Both queues have it at one place.
    local function fits(score)
      local isLater = score and r.attempt and score > order and score < LAST_ORDER
      return (isLater or score == order) and score or nil
    end
    local right = fits(scoreIn(queues[1], r.id)) or fits(scoreIn(queues[2], r.id)) or (not r.attempt and order) or nil
    newest = math.max(order, right or 0)
    local function enter(queue)
      redis.call('ZREM', queue, r.id)
      right = right or tonumber(nextOrder(base, r.space, now)) -- the end of the queue, as after a retry
      redis.call('ZADD', queue, digits(right), r.id)
    end
    for i, queue in ipairs(queues) do
      local score = scoreIn(queue, r.id)
      if not score or score ~= right then
        local detail = score and 'at ' .. digits(score) .. ', out of order' or 'the job is pending'
        find(found, score and 'entry_misplaced' or 'entry_missing', queue, detail, found.additions, function() enter(queue) end)
      end
    end
  end

  checkOrder(found, base, r.space, newest)
end
