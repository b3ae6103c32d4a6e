-- KEYS deadlines
-- ARGV base limit maxDeliveries eventsPerJob retentionMs deliveryTimeoutMs dueBefore
--
-- Do what is due in one partition, oldest first: a delivered job is pending again, at its place by creation, or dead; a
-- running one has failed its attempt; an ended one is purged. A job whose window a step of Redis' clock cut short gets
-- another.
--   limit          at most 100, so that Redis is busy for some 3 ms at most
--   maxDeliveries  delivery time-outs in a row, with no ack in between, that make a job dead
--   dueBefore      expire only deadlines before this last look at the clock, in ms, because it may have stepped since
-- Returns {'OK', entries looked at, {delivered jobs pending again, delivered ones now dead, attempts failed of jobs pending
-- again, of jobs now dead, completed jobs purged, dead ones, killed ones, jobs given another window}, lateness in ms of the
-- oldest that was not given one, {id of a job whose record is broken, …}}.
-- @include clock order job move_status queue implied publish record owe retain die take_back expire_delivery fail_attempt purge reopen_window cut_short
local now = nowMs()
local DELIVERED = { pending = 1, dead = 2 }
local FAILED = { pending = 3, dead = 4 }
local PURGED = { completed = 5, dead = 6, killed = 7 }
local REOPENED = 8
local steppedAt = lastStep(base, now)

-- Do what is due for one job, and return which count that adds to.
local function meet(id, due)
  local found, timeouts = loadJob(base .. 'job:' .. id, base, id, 'deliveryTimeouts')
  if reopenIfCutShort(found, due, steppedAt, now, deliveryTimeoutMs) then return REOPENED end
  if found.status == 'delivered' then
    return DELIVERED[expireDelivery(found, timeouts, now, maxDeliveries, eventsPerJob, retentionMs)]
  elseif found.status == 'running' then
    local failure = '"Job timed out after ' .. found.timeoutSeconds .. ' seconds without a heartbeat"'
    return FAILED[failAttempt(found, now, failure, eventsPerJob, retentionMs)]
  elseif found.status and found.status ~= 'pending' then
    return purge(found, now) and PURGED[found.status]
  end
  redis.call('ZREM', deadlines, id) -- no record, or nothing to wait for
end

-- Below and not at: both ends of a window were rounded down, and none may end early.
local before = digits(math.min(now, tonumber(dueBefore)))
local due = redis.call('ZRANGEBYSCORE', deadlines, '-inf', '(' .. before, 'WITHSCORES', 'LIMIT', 0, limit)
local counts, broken, late = { 0, 0, 0, 0, 0, 0, 0, 0 }, {}, nil
for i = 1, #due, 2 do
  local ok, count = pcall(meet, due[i], tonumber(due[i + 1]))
  if count ~= REOPENED then late = late or now - tonumber(due[i + 1]) end
  if ok and count then
    counts[count] = counts[count] + 1
  elseif not ok then
    -- A record that is not what we write. Look again in a minute: never strand the sweep behind it.
    redis.call('ZREM', deadlines, due[i])
    redis.call('ZADD', deadlines, digits(now + 60000), due[i])
    broken[#broken + 1] = due[i]
  end
end
return { 'OK', #due / 2, { unpack(counts) }, late or 0, { unpack(broken) } }
