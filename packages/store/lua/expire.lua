-- KEYS deadlines
-- ARGV base limit eventsPerJob retentionMs
--
-- Do what is due in one partition, oldest first: a delivered job is pending again, at its place by creation; a running one
-- has failed its attempt; an ended one is purged.
--   limit    at most 100, so that Redis is busy for some 3 ms at most
-- Returns {'OK', entries looked at, {delivered jobs pending again, attempts failed of jobs pending again, of jobs now dead,
-- completed jobs purged, dead ones, killed ones}, lateness of the oldest in ms, {id of a job whose record is broken, …}}.
-- @include clock order job move_status queue implied publish record owe retain take_back fail_attempt purge
local now, at = nowMs()
local FAILED = { pending = 2, dead = 3 }
local PURGED = { completed = 4, dead = 5, killed = 6 }

-- Do what is due for one job, and return which count that adds to.
local function meet(id)
  local found = loadJob(base .. 'job:' .. id, base, id)
  if found.status == 'delivered' then
    moveStatus(found, 'pending')
    enqueue(found, found.order)
    redis.call('ZREM', deadlines, id)
    takeBack(found, at, 'delivery_timeout', 'null', eventsPerJob)
    return 1
  elseif found.status == 'running' then
    local failure = '"Job timed out after ' .. found.timeoutSeconds .. ' seconds without a heartbeat"'
    return FAILED[failAttempt(found, now, failure, eventsPerJob, retentionMs)]
  elseif found.status and found.status ~= 'pending' then
    return purge(found, now) and PURGED[found.status]
  end
  redis.call('ZREM', deadlines, id) -- no record, or nothing to wait for
end

-- Below and not at: both ends of a window were rounded down, and none may end early.
local due = redis.call('ZRANGEBYSCORE', deadlines, '-inf', '(' .. at, 'WITHSCORES', 'LIMIT', 0, limit)
local counts, broken = { 0, 0, 0, 0, 0, 0 }, {}
for i = 1, #due, 2 do
  local ok, count = pcall(meet, due[i])
  if ok and count then
    counts[count] = counts[count] + 1
  elseif not ok then
    -- A record that is not what we write. Look again in a minute: never strand the sweep behind it.
    redis.call('ZREM', deadlines, due[i])
    redis.call('ZADD', deadlines, digits(now + 60000), due[i])
    broken[#broken + 1] = due[i]
  end
end
local late = #due > 0 and now - tonumber(due[2]) or 0
return { 'OK', #due / 2, { unpack(counts) }, late, { unpack(broken) } }
