-- KEYS deadlines
-- ARGV base limit eventsPerJob retentionMs
--
-- Do what is due in one partition, oldest first: a delivered job is pending again, at its old place; a running one
-- has failed its attempt; an ended one is purged.
--   limit    at most 100, so that Redis is busy for some 3 ms at most
-- Returns {'OK', entries looked at, jobs pending again, attempts failed, jobs purged, lateness of the oldest in ms}.
-- @include clock order job move_status queue publish record owe retain fail_attempt purge
local now = nowMs()
-- Below and not at: both ends of a window were rounded down, and none may end early.
local due = redis.call('ZRANGEBYSCORE', deadlines, '-inf', '(' .. digits(now), 'WITHSCORES', 'LIMIT', 0, limit)
local pending, failed, purged = 0, 0, 0
for i = 1, #due, 2 do
  local id = due[i]
  local found = loadJob(base .. 'job:' .. id, base, id)
  if found.status == 'delivered' then
    moveStatus(found, 'pending')
    enqueue(found, found.order)
    redis.call('ZREM', deadlines, id)
    redis.call('HDEL', found.key, 'deliveredAt')
    record(found, now, 'delivery_timeout', 'pending', 'null', eventsPerJob)
    pending = pending + 1
  elseif found.status == 'running' then
    local failure = '"Job timed out after ' .. found.timeoutSeconds .. ' seconds without a heartbeat"'
    failAttempt(found, now, failure, eventsPerJob, retentionMs)
    failed = failed + 1
  elseif found.status and found.status ~= 'pending' then
    purged = purged + purge(found, now)
  else
    redis.call('ZREM', deadlines, id) -- no record, or nothing to wait for: never strand the sweep behind it
  end
end
local late = #due > 0 and now - tonumber(due[2]) or 0
return { 'OK', #due / 2, pending, failed, purged, late }
