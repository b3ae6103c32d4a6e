-- KEYS index
-- ARGV base low highest most budget ids...
-- REPLY OK rows?[][]
--
-- Read the texts that an operation searches, by job ID or, without `ids`, for the next jobs in a status index.
--   low, highest   range of the creation order of the jobs
--   most      maximum number of jobs to read from the index
--   budget    stop after this many bytes of records
--   rows      for each job: its ID, creation order ('' with `ids`), payload, result and error
local found = {}
for i, id in ipairs(ids) do found[2 * i - 1], found[2 * i] = id, '' end
if #ids == 0 then found = redis.call('ZRANGEBYSCORE', index, low, highest, 'WITHSCORES', 'LIMIT', 0, most) end
local rows, bytes = {}, 0
for i = 1, #found, 2 do
  if bytes > tonumber(budget) then break end
  local texts = redis.call('HMGET', base .. 'job:' .. found[i], 'payload', 'result', 'error')
  rows[#rows + 1] = { found[i], found[i + 1], unpack(texts, 1, 3) }
  for n = 1, 3 do
    if type(texts[n]) == 'string' then bytes = bytes + #texts[n] end
  end
end
return { 'OK', rows }
