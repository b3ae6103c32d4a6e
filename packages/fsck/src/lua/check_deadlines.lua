-- Tolerance: a clock can step back when another server takes over, and a sweep postpones a job that it cannot process by a
-- minute.
local CLOCK_SLACK_MS = 300000
-- Maximum of DELIVERY_TIMEOUT_SECONDS, because the setting may have been longer when the job was delivered.
local LONGEST_DELIVERY_MS = 86400000

-- Check the deadline of a job. A waiting job has none.
local function checkDeadline(found, r, base, nowMs)
  local deadlines = base .. 'deadlines'
  if r.status == 'scheduled' or r.status == 'pending' then
    return mustNotBeIn(found, deadlines, r.id, 'the job is ' .. r.status)
  end
  local ms = math.ceil(tonumber(r.timeoutSeconds) * 1000)
  local due, latest = nil, nil
  if r.status == 'delivered' then
    due = r.deliveredAt and math.min(tonumber(r.deliveredAt), nowMs) + (DELIVERY_TIMEOUT_MS > 0 and DELIVERY_TIMEOUT_MS or ms) or nowMs
    latest = nowMs + LONGEST_DELIVERY_MS
  elseif r.status == 'running' then
    -- After the run limit, the sweep may be late, or may have postponed the job.
    local runBy = tonumber(r.runBy or math.huge)
    due, latest = math.min(nowMs + ms, runBy), math.min(nowMs + ms, math.max(runBy, nowMs))
  elseif hasEnded(r) and not r.kept then
    local kept = retentionIn(settingsText(base, r.space), r.status)
    due = kept > 0 and nowMs + kept or nil
  end
  local actual = scoreIn(deadlines, r.id)
  if due and not actual then
    find(found, 'deadline_missing', deadlines, 'the job is ' .. r.status, found.additions, function() replaceEntry(deadlines, r.id, formatInteger(due)) end)
  elseif latest and actual > latest + CLOCK_SLACK_MS then
    local detail = 'the job is ' .. r.status .. ', but not due before ' .. formatInteger(actual)
    find(found, 'deadline_late', deadlines, detail, found.additions, function() replaceEntry(deadlines, r.id, formatInteger(due)) end)
  end
end
