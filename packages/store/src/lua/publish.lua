-- Format a text as a JSON string.
local function quote(text)
  if not string.find(text, '[%c"\\]') then return '"' .. text .. '"' end -- nearly always
  return '"' .. string.gsub(text, '[%c"\\]', function(c) return string.format('\\u%04x', string.byte(c)) end) .. '"'
end

-- Build the message of an event; see PublishedMessage in the protocol.
--   seq    'null' for an event that is not in the history
--   at     epoch ms as text
--   data   JSON text
local function eventMessage(job, seq, type, status, at, data)
  local tags = ''
  if has(job, 't') then
    local list = {}
    for tag in string.gmatch(withoutLabels(option(job, 't', 'tags')) or '', '[^\n]+') do list[#list + 1] = quote(tag) end
    tags = list[1] and ',"tags":[' .. table.concat(list, ',') .. ']' or ''
  end
  return '{"seq":' .. seq .. ',"jobId":"' .. job.id .. '","jobName":' .. quote(job.name) .. ',"spaceId":"' .. job.space
    .. '","type":"' .. type .. '","status":"' .. status .. '","data":' .. data .. ',"at":' .. at .. tags .. '}'
end

-- The partition that was checked last, and whether it has a watcher. A gateway subscribes to the partition's `watched` before a
-- channel of events, and reads the state afterwards, so it misses nothing. Most partitions have no watcher, and the check costs
-- a third of building a message and publishing it twice.
local askedBase
local watched

local function isWatched(base)
  if askedBase ~= base then askedBase, watched = base, redis.call('PUBSUB', 'NUMSUB', base .. 'watched')[2] > 0 end
  return watched
end

-- Publish an event to the watchers of the job and of its space. Scripts check isWatched first, so that a script without watchers
-- does not even declare the functions for messages.
local function publish(job, seq, type, status, at, data)
  local message = eventMessage(job, seq, type, status, at, data)
  redis.call('PUBLISH', job.base .. 'stream:job:' .. job.id, message)
  redis.call('PUBLISH', job.base .. 'stream:space:' .. job.space, message)
end

-- Publish the creation of a job to the watchers of its space. The job itself cannot have watchers yet.
local function publishCreation(job, status, order)
  local at = formatInteger(math.floor(order / 1024))
  redis.call('PUBLISH', job.base .. 'stream:space:' .. job.space, eventMessage(job, '1', 'created', status, at, 'null'))
end
