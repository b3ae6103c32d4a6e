local function quote(text)
  return '"' .. string.gsub(text, '[%c"\\]', function(c) return string.format('\\u%04x', string.byte(c)) end) .. '"'
end

-- Tell the watchers of the job and of its space; `data` is JSON text, `seq` nil for what is not in the history. See
-- PublishedNews in the protocol.
local function publish(job, seq, type, status, now, data)
  local message = '{"seq":' .. (seq and digits(seq) or 'null') .. ',"jobId":"' .. job.id .. '","jobName":' .. quote(job.name)
    .. ',"spaceId":"' .. job.space .. '","type":"' .. type .. '","status":"' .. status
    .. '","data":' .. data .. ',"at":' .. digits(now) .. '}'
  redis.call('PUBLISH', job.base .. 'stream:job:' .. job.id, message)
  redis.call('PUBLISH', job.base .. 'stream:space:' .. job.space, message)
end
