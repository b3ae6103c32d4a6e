-- Attempts at a callback after the last event that shows the status: more only after redeliveries, and then nothing is
-- concluded from them.
local MOST_CALLBACKS = 20

-- Return why a job must have a list by its record; nil when it needs none.
local function happened(r)
  if r.status == 'dead' or r.status == 'killed' then return 'the job is ' .. r.status end
  if r.hasRetried then return 'an attempt has failed' end
  if r.scheduledFor and r.status ~= 'scheduled' then return 'it was scheduled' end
  if redis.call('HEXISTS', r.key, 'progress') + redis.call('HEXISTS', r.key, 'checkpoint') > 0 then return 'its worker has reported' end
  return r.callbackAttempts and 'its callback was attempted'
end

-- Check that the last event of a job's history that shows its status shows the record's, and that its first event is
-- one that can be the first.
local function checkList(found, r, history)
  local first = redis.call('LINDEX', history, 0)
  for i = 1, MOST_CALLBACKS do
    local entry = stored(redis.call('LINDEX', history, -i))
    -- A callback changes no status.
    local status = entry and statusAfter(entry)
    if entry and not status then return find(found, 'history_unreadable', history, 'entry ' .. -i .. ' is not valid') end
    if not entry or status ~= '' then
      -- A dropped event may have shown it. Otherwise it was `created`, which is not in the list.
      local isCreated = not r.eventsDropped and r.status ~= 'scheduled'
      local shown = entry and status or isCreated and 'pending' or r.status
      if IS_STATUS[r.status or ''] and shown ~= r.status then
        return find(found, 'history_disagrees', history, 'the status is ' .. r.status .. ' in the record and ' .. shown .. ' in the history')
      end
      break
    end
  end
  local begins = typeOf(first)
  if not r.eventsDropped and not FIRST[begins] then
    find(found, 'history_incomplete', history, 'it begins with ' .. begins)
  end
end

-- Check both lists of a job, or that it needs none.
local function checkLists(found, r)
  local history, logs = r.key .. ':events', r.key .. ':logs'
  if redis.call('EXISTS', history) == 1 then
    checkList(found, r, history)
  elseif r.eventsDropped then
    find(found, 'entries_lost', history, 'it has lost its oldest ' .. r.eventsDropped .. ' events, and the others too')
  elseif IS_STATUS[r.status or ''] and happened(r) then
    find(found, 'history_incomplete', history, 'it is missing, although ' .. happened(r))
  end
  if r.logsDropped and redis.call('EXISTS', logs) == 0 then
    find(found, 'entries_lost', logs, 'it has lost its oldest ' .. r.logsDropped .. ' entries, and the others too')
  end
end
