-- KEYS index
-- ARGV base low highest most budget ids...
-- REPLY OK rows?[][]
--
-- Read what an operation searches for its text: of these jobs, or else of the next ones in a status index.
--   low, highest   creation order of the jobs
--   most      jobs at most
--   budget    bytes of records after which to stop
--   rows      the id of each job, its order ('' with `ids`), and its payload, result and error
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
