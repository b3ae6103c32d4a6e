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

-- Publish what was collected.
local function publishCollected(base, space)
  for name, count in pairs(collected.woken) do wakeForEach({ base = base, space = space, name = name }, count) end
  if collected.messages[1] and isWatched(base) then
    local ofSpace = base .. 'stream:space:' .. space
    for _, message in ipairs(collected.messages) do
      local text = eventMessage(unpack(message))
      if message[3] ~= 'created' then redis.call('PUBLISH', base .. 'stream:job:' .. message[1].id, text) end
      redis.call('PUBLISH', ofSpace, text)
    end
  end
end
