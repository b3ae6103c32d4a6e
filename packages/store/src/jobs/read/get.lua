-- KEYS base
-- ARGV jobId space fromSeq portion budget
-- REPLY OK record[] firstSeq:number events[]
-- REPLY LARGE
-- ERRORS JOB_NOT_FOUND FORBIDDEN
--
-- Read a job and up to `portion` entries of its history in one snapshot, starting at a seq or at the oldest entry left. LARGE means
-- that they exceed the budget.
--   budget    maximum number of bytes of the record and the entries together
--   record    name, value, …
local job, refusal = openJob(base, space, jobId)
if refusal then return refusal end

-- Check the size first, so that no large field is copied for nothing.
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
