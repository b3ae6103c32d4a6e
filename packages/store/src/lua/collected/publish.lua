-- Events that a script for several jobs publishes at its end, and how many jobs of each name became claimable.
local collected = { messages = {}, woken = {} }

local function publish(job, ...)
  collected.messages[#collected.messages + 1] = { job, ... }
end

local function publishCreation(job, status, order)
  publish(job, '1', 'created', status, formatInteger(math.floor(order / 1024)), 'null')
end

local function wake(job)
  collected.woken[job.name] = (collected.woken[job.name] or 0) + 1
end

-- Publish what was collected for channels that have subscribers, because most channels have none.
local function publishCollected(base, space)
  local messages, ofSpace, ofWake = collected.messages, base .. 'stream:space:' .. space, base .. 'wake:' .. space
  local channels = { ofSpace, next(collected.woken) and ofWake or nil }
  for _, message in ipairs(messages) do
    local job = message[1]
    if job.channel == nil then
      job.channel = base .. 'stream:job:' .. job.id
      channels[#channels + 1] = job.channel
    end
  end
  if not messages[1] then return end

  local counts, isWatched, isAnyWatched = redis.call('PUBSUB', 'NUMSUB', unpack(channels)), {}, false
  for i = 2, #counts, 2 do
    if counts[i] > 0 then isWatched[counts[i - 1]], isAnyWatched = true, true end
  end
  if not isAnyWatched then return end
  for _, message in ipairs(messages) do
    local channel = message[1].channel
    if isWatched[channel] or isWatched[ofSpace] then
      local text = eventMessage(unpack(message))
      if isWatched[channel] then redis.call('PUBLISH', channel, text) end
      if isWatched[ofSpace] then redis.call('PUBLISH', ofSpace, text) end
    end
  end
  for name, count in pairs(isWatched[ofWake] and collected.woken or {}) do
    for _ = 1, count do redis.call('PUBLISH', ofWake, name) end
  end
end
