-- A clock may step back when another server takes over, and a sweep postpones a job that it cannot process by a minute.
local CLOCK_SLACK_MS = 300000
-- The longest DELIVERY_TIMEOUT_SECONDS that can be set, because it may have been longer when the job was delivered.
local LONGEST_DELIVERY_MS = 86400000

-- Check the deadline of a job. A pending job has none.
local function checkDeadline(found, r, base, nowMs, deliveryTimeoutMs, retentionMs)
  local deadlines = base .. 'deadlines'
  if r.status == 'pending' then return mustNotBeIn(found, deadlines, r.id, 'the job is pending') end
  local ms = math.ceil((tonumber(r.timeoutSeconds or DEFAULT_TIMEOUT_SECONDS) or 300) * 1000)
  local due, latest = nil, nil
  if r.status == 'delivered' then
    due = r.deliveredAt and math.min(tonumber(r.deliveredAt), nowMs) + (deliveryTimeoutMs > 0 and deliveryTimeoutMs or ms) or nowMs
    latest = nowMs + LONGEST_DELIVERY_MS
  elseif r.status == 'running' then
    due, latest = nowMs + ms, nowMs + ms
  elseif retentionMs > 0 then
    due = nowMs + retentionMs
  end
  local actual = scoreIn(deadlines, r.id)
  if due and not actual then
    find(found, 'deadline_missing', deadlines, 'the job is ' .. r.status, found.additions, function() replaceEntry(deadlines, r.id, formatInteger(due)) end)
  elseif latest and actual > latest + CLOCK_SLACK_MS then
    local detail = 'the job is ' .. r.status .. ', and not due before ' .. formatInteger(actual)
    find(found, 'deadline_late', deadlines, detail, found.additions, function() replaceEntry(deadlines, r.id, formatInteger(due)) end)
  end
end

-- Check the callback of a job: it is pending until its outcome is final, and only when the job has ended.
local function checkCallback(found, r, base, nowMs)
  local callbacks = base .. 'callbacks'
  local hasEnded = r.status == 'completed' or r.status == 'dead'
  local isPending = scoreIn(callbacks, r.id) ~= nil
  if not isPending and not hasEnded then return end
  local hasCallback = hasEnded and redis.call('HEXISTS', r.key, 'callbackUrl') == 1
  if isPending and not hasCallback then
    mustNotBeIn(found, callbacks, r.id, hasEnded and 'the job has no callback' or 'the job is ' .. r.status)
  elseif hasCallback and not isPending and (not r.callbackAttempts or r.callbackDueAt or r.callbackLeasedUntil) then
    local detail = r.callbackAttempts and 'its next attempt is due, but it is not pending' or 'it was never attempted, but it is not pending'
    find(found, 'callback_forgotten', callbacks, detail, found.additions, function()
      redis.call('ZREM', callbacks, r.id)
      enqueueCallback({ base = base, id = r.id }, nowMs)
    end)
  end
end
