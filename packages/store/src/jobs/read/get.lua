-- KEYS base
-- ARGV jobId space fromSeq portion budget
-- REPLY OK record[] firstSeq:number events[]
-- REPLY LARGE
-- ERRORS JOB_NOT_FOUND FORBIDDEN
--
-- Read a job and at most `portion` entries of its history, from an event's seq on, or from the oldest that is left, as of one
-- moment; or only report that they are large.
--   budget    bytes that both may have together; a larger reply is not returned
--   record    field, value, …
local job, refusal = openJob(base, space, jobId)
if refusal then return refusal end

-- Ask for the size first, so that no large field is copied without need.
local left = budget - redis.call('MEMORY', 'USAGE', job.key, 'SAMPLES', '0')
local first, firstSeq, length, implied = placeInHistory(job, fromSeq)
local over = math.min(length, first + tonumber(portion))
local events = implied and { unpack(implied, first + 1, over) } or {}
for at = first + #events, over - 1, 20 do
  if left < 0 then break end
  for _, entry in ipairs(redis.call('LRANGE', job.key .. ':events', at, math.min(at + 20, over) - 1)) do
    events[#events + 1] = entry
    left = left - #entry
  end
end
if left < 0 then return { 'LARGE' } end
return { 'OK', redis.call('HGETALL', job.key), firstSeq, events }
