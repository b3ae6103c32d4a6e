local function hasEnded(r)
  return r.status == 'completed' or r.status == 'dead' or r.status == 'killed'
end

-- Check that the field `callbackOn` lists final statuses in order, and not those of the default.
local function isCallbackOn(ends)
  local wanted = {}
  for _, status in ipairs({ 'completed', 'dead', 'killed' }) do
    if string.find(ends, status, 1, true) then wanted[#wanted + 1] = status end
  end
  return #wanted > 0 and ends == table.concat(wanted, ' ') and ends ~= DEFAULT_CALLBACK_ON
end

-- Check the callback of a job: it is pending until its outcome is final, and only after a status for which the producer
-- requested it.
local function checkCallback(found, r, base, nowMs)
  local callbacks = base .. 'callbacks'
  local isPending = scoreIn(callbacks, r.id) ~= nil
  if not isPending and not hasEnded(r) then return end
  local hasCallback = hasEnded(r) and wantsCallback(r, r.status)
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
