local function quote(text)
  if not string.find(text, '[%c"\\]') then return '"' .. text .. '"' end -- nearly always
  return '"' .. string.gsub(text, '[%c"\\]', function(c) return string.format('\\u%04x', string.byte(c)) end) .. '"'
end

-- Publish an event to the watchers of the job and of its space; see the published messages in the protocol.
--   seq    'null' for a message that is not in the history
--   at     epoch ms as text
--   data   JSON text
local function publish(job, seq, type, status, at, data)
  local message = '{"seq":' .. seq .. ',"jobId":"' .. job.id .. '","jobName":' .. quote(job.name) .. ',"spaceId":"' .. job.space
    .. '","type":"' .. type .. '","status":"' .. status .. '","data":' .. data .. ',"at":' .. at .. '}'
  redis.call('PUBLISH', job.base .. 'stream:job:' .. job.id, message)
  redis.call('PUBLISH', job.base .. 'stream:space:' .. job.space, message)
end

-- Announce that a job can be claimed to the processes that have waiting polls of its space.
local function wake(job)
  redis.call('PUBLISH', job.base .. 'wake:' .. job.space, job.name)
end
