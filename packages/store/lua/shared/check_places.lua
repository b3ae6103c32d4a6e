-- Orders are whole numbers up to here, see order.lua.
local LAST_ORDER = 2 ^ 53

-- The last order of a space must not be below that of its newest job, or a job to come would stand before it, nor past
-- the whole numbers, or all jobs to come would stand at one place.
local function checkOrder(found, base, space, newest)
  local spaces = base .. 'spaces'
  local last = scoreIn(spaces, space)
  if last and last >= newest and last < LAST_ORDER then return end
  local kind = not last and 'space_missing' or last < newest and 'space_behind' or 'space_ahead'
  local detail = space .. (last and ' is at ' .. digits(last) or ' is not listed, and has jobs')
  find(found, kind, spaces, detail, found.additions, function()
    -- Not only above this job, or each newer one would be the same fault again.
    for _, index in ipairs({ '/jobs', '/queue' }) do
      local top = redis.call('ZREVRANGE', base .. 'space:' .. space .. index, 0, 0, 'WITHSCORES')
      local order = tonumber(top[2] or 0)
      if order < LAST_ORDER then newest = math.max(newest, order) end
    end
    place(spaces, digits(newest), space)
  end)
end

-- A pending job stands in both queues, at one place: where it was created or, once an attempt has failed, later.
local function checkQueues(found, r, base, now, queues)
  local order = tonumber(r.order)
  local function fits(score)
    local isLater = score and r.attempt and score > order and score < LAST_ORDER
    return (isLater or score == order) and score or nil
  end
  local right = fits(scoreIn(queues[1], r.id)) or fits(scoreIn(queues[2], r.id)) or (not r.attempt and order) or nil
  -- First of all: the end of the queue follows from it.
  checkOrder(found, base, r.space, right or order)
  local function enter(queue)
    redis.call('ZREM', queue, r.id)
    right = right or tonumber(nextOrder(base, r.space, now)) -- the end of the queue, as after a retry
    redis.call('ZADD', queue, digits(right), r.id)
  end
  for _, queue in ipairs(queues) do
    local score = scoreIn(queue, r.id)
    if not score or score ~= right then
      local detail = score and 'at ' .. digits(score) .. ', out of order' or 'the job is pending'
      find(found, score and 'entry_misplaced' or 'entry_missing', queue, detail, found.additions, function() enter(queue) end)
    end
  end
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
  if r.status == 'pending' then return checkQueues(found, r, base, now, queues) end
  for _, queue in ipairs(queues) do mustNotBeIn(found, queue, r.id, 'the job is ' .. r.status) end
  checkOrder(found, base, r.space, tonumber(r.order))
end
