-- KEYS callbacks
-- ARGV base limit againMs atMostMs
-- REPLY OK examined:number due[]
--
-- List the due callbacks of one partition, oldest first, for one scheduler. Postpone the next check of each by the time for which
-- it has been due, but at least by `againMs` and at most by `atMostMs`. The interval therefore doubles each time a scheduler loses
-- the callback.
--   limit    at most 100
--   due      ID, series, URL, ms for which it has been due, …
local nowMs, nowText = now()
local ids = redis.call('ZRANGEBYSCORE', callbacks, '-inf', nowText, 'LIMIT', 0, limit)
local due = {}
for _, id in ipairs(ids) do
  local job, url = loadJob(base, id, 'callbackUrl')
  local callback = loadCallback(job)
  if callback then
      -- The first attempt is due when the job ends.
    local since = callback.due > 0 and callback.due or tonumber(job.updatedAt)
    local waitedMs = nowMs - since
    postpone(job, nowMs + math.min(math.max(waitedMs, tonumber(againMs)), tonumber(atMostMs)))
    for _, value in ipairs({ id, formatInteger(callback.series), url or '', formatInteger(waitedMs) }) do due[#due + 1] = value end
  else
    redis.call('ZREM', callbacks, id) -- the record is gone, or its callback was never pending
  end
end
return { 'OK', #ids, due }
