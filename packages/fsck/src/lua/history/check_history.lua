-- Maximum number of callback attempts after the last event that shows the status. There are more only after redeliveries, and
-- then the status is not checked.
local MOST_CALLBACKS = 20
-- Minimum length of a list that has dropped entries: the minimum of EVENTS_PER_JOB, without `created`.
local FEWEST_KEPT = 9

-- Check that the history of a job ends in the status of its record, and starts with a possible first event.
local function checkList(found, r, history)
  local first, length = redis.call('LINDEX', history, 0), redis.call('LLEN', history)
  local dropped = (r.seq or 1) - 1 - length
  for i = 1, MOST_CALLBACKS do
    local entry = redis.call('LINDEX', history, -i)
    -- A callback changes no status.
    local status = entry and statusAfter(entry)
    if entry and not status then return find(found, 'history_unreadable', history, 'entry ' .. -i .. ' is not valid') end
    if not entry or status ~= '' then
      -- A dropped event may have shown the status. Otherwise it was `created`, which is not in the list.
      local isCreated = dropped == 0 and r.status ~= 'scheduled'
      local shown = entry and status or isCreated and 'pending' or r.status
      if IS_STATUS[r.status or ''] and shown ~= r.status then
        return find(found, 'history_disagrees', history, 'the status is ' .. r.status .. ' in the record and ' .. shown .. ' in the history')
      end
      break
    end
  end
  local begins = typeOf(first)
  if r.status and (dropped < 0 or not has(r, 'h')) then
    find(found, 'record_broken', r.key, 'state and history disagree on the number of events')
  elseif dropped > 0 and length < FEWEST_KEPT then
    find(found, 'history_incomplete', history, 'it has ' .. length .. ' of ' .. r.seq - 1 .. ' events')
  elseif dropped == 0 and not FIRST[begins] then
    find(found, 'history_incomplete', history, 'it begins with ' .. begins)
  end
end

-- Check the history and the logs of a job, or that it needs no list.
local function checkLists(found, r)
  local history, logs = r.key .. ':events', r.key .. ':logs'
  if redis.call('EXISTS', history) == 1 then
    checkList(found, r, history)
  elseif r.status and has(r, 'h') then
    find(found, 'entries_lost', history, 'it has lost all ' .. r.seq - 1 .. ' events')
  elseif IS_STATUS[r.status or ''] and r.seq - 1 ~= #impliedEntries(r) then
    find(found, 'history_incomplete', history, 'the record shows ' .. #impliedEntries(r) .. ' of ' .. r.seq - 1 .. ' events')
  end
  if r.logsDropped and redis.call('EXISTS', logs) == 0 then
    find(found, 'entries_lost', logs, 'it has lost its oldest ' .. r.logsDropped .. ' entries, and all others')
  end
end
