-- A clock may step back when another server takes over, and a sweep postpones what it cannot do by a minute.
local CLOCK_SLACK_MS = 300000
-- The longest DELIVERY_TIMEOUT_SECONDS that can be set, since it may have been another when the job was handed out.
local LONGEST_DELIVERY_MS = 86400000

-- The deadline of a job that waits for something, and none of a pending one.
local function checkDeadline(found, r, base, now, deliveryTimeoutMs, retentionMs)
  local deadlines = base .. 'deadlines'
  if r.status == 'pending' then return mustNotBeIn(found, deadlines, r.id, 'the job is pending') end
  local windowMs = math.ceil((tonumber(r.timeoutSeconds or 300) or 300) * 1000)
  local due, latest = nil, nil
  if r.status == 'delivered' then
    due = r.deliveredAt and math.min(tonumber(r.deliveredAt), now) + deliveryTimeoutMs or now
    latest = now + LONGEST_DELIVERY_MS
  elseif r.status == 'running' then
    due, latest = now + windowMs, now + windowMs
  elseif retentionMs > 0 then
    due = now + retentionMs
  end
  local actual = scoreIn(deadlines, r.id)
  if due and not actual then
    find(found, 'deadline_missing', deadlines, 'the job is ' .. r.status, found.additions, function() place(deadlines, digits(due), r.id) end)
  elseif latest and actual > latest + CLOCK_SLACK_MS then
    local detail = 'the job is ' .. r.status .. ', and not due before ' .. digits(actual)
    find(found, 'deadline_late', deadlines, detail, found.additions, function() place(deadlines, digits(due), r.id) end)
  end
end

-- A callback is pending until its outcome is final. Only a job that has ended has a pending callback.
local function checkCallback(found, r, base, now)
  local callbacks = base .. 'callbacks'
  local hasEnded = r.status == 'completed' or r.status == 'dead'
  local isOwed = scoreIn(callbacks, r.id) ~= nil
  if not isOwed and not hasEnded then return end
  local mayOwe = hasEnded and redis.call('HEXISTS', r.key, 'callbackUrl') == 1
  if isOwed and not mayOwe then
    mustNotBeIn(found, callbacks, r.id, hasEnded and 'the job has no callback' or 'the job is ' .. r.status)
  elseif mayOwe and not isOwed and (not r.callbackAttempts or r.callbackDueAt or r.callbackLeasedUntil) then
    local detail = r.callbackAttempts and 'its next attempt is due, and not owed' or 'it was never attempted, and is not owed'
    find(found, 'callback_forgotten', callbacks, detail, found.additions, function()
      redis.call('ZREM', callbacks, r.id)
      owe({ base = base, id = r.id }, now)
    end)
  end
end
