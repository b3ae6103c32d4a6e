-- A clock may step back when another server takes over, and a sweep postpones a job that it cannot process by a minute.
local CLOCK_SLACK_MS = 300000
-- The longest DELIVERY_TIMEOUT_SECONDS that can be set, because it may have been longer when the job was delivered.
local LONGEST_DELIVERY_MS = 86400000

local function hasEnded(r)
  return r.status == 'completed' or r.status == 'dead' or r.status == 'killed'
end

-- Check the deadline of a job. One that waits has none.
local function checkDeadline(found, r, base, nowMs, deliveryTimeoutMs, retentionMs)
  local deadlines = base .. 'deadlines'
  if r.status == 'scheduled' or r.status == 'pending' then
    return mustNotBeIn(found, deadlines, r.id, 'the job is ' .. r.status)
  end
  local ms = math.ceil((tonumber(r.timeoutSeconds or DEFAULT_TIMEOUT_SECONDS) or 300) * 1000)
  local due, latest = nil, nil
  if r.status == 'delivered' then
    due = r.deliveredAt and math.min(tonumber(r.deliveredAt), nowMs) + (deliveryTimeoutMs > 0 and deliveryTimeoutMs or ms) or nowMs
    latest = nowMs + LONGEST_DELIVERY_MS
  elseif r.status == 'running' then
    -- After the end of the run the sweep may be late, or have postponed the job.
    local runBy = tonumber(r.runBy or math.huge)
    due, latest = math.min(nowMs + ms, runBy), math.min(nowMs + ms, math.max(runBy, nowMs))
  elseif hasEnded(r) and retentionMs > 0 then
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

-- Check whether the field `callbackOn` lists ends of a job in their order, and not those of the default.
local function isCallbackOn(ends)
  local wanted = {}
  for _, status in ipairs({ 'completed', 'dead', 'killed' }) do
    if string.find(ends, status, 1, true) then wanted[#wanted + 1] = status end
  end
  return #wanted > 0 and ends == table.concat(wanted, ' ') and ends ~= DEFAULT_CALLBACK_ON
end

-- Check the callback of a job: it is pending until its outcome is final, and only when the job has ended in a way after
-- which its producer wants it.
local function checkCallback(found, r, base, nowMs)
  local callbacks = base .. 'callbacks'
  local isPending = scoreIn(callbacks, r.id) ~= nil
  if not isPending and not hasEnded(r) then return end
  local hasCallback = hasEnded(r) and wantsCallback(r.status, redis.call('HGET', r.key, 'callbackUrl'), r.callbackOn)
  if isPending and not hasCallback then
    mustNotBeIn(found, callbacks, r.id, hasEnded(r) and 'the job has no callback' or 'the job is ' .. r.status)
  elseif hasCallback and not isPending and (not r.callbackAttempts or r.callbackDueAt or r.callbackLeasedUntil) then
    local detail = r.callbackAttempts and 'its next attempt is due, but it is not pending' or 'it was never attempted, but it is not pending'
    find(found, 'callback_forgotten', callbacks, detail, found.additions, function()
      redis.call('ZREM', callbacks, r.id)
      enqueueCallback({ base = base, id = r.id }, nowMs)
    end)
  end
end
