-- The status that a job has after an event. Signs of life come from running jobs only; callbacks move nothing.
local STATUS_AFTER = { delivered = 'delivered', acked = 'running', progress = 'running', checkpoint = 'running',
  event = 'running', completed = 'completed', retried = 'pending', delivery_timeout = 'pending', dead = 'dead',
  killed = 'killed', callback_sent = '', callback_failed = '' }
-- Attempts at a callback behind the last event that says something: more only after redeliveries, and nothing is made
-- of them.
local MOST_CALLBACKS = 20

-- The last of a job's history that says where it is must say what the record says.
local function checkHistory(found, r)
  local history = r.key .. ':events'
  local told = nil
  for i = 1, MOST_CALLBACKS do
    local entry = stored(redis.call('LINDEX', history, -i))
    if not entry then
      told = told or 'pending' -- `created` is not in the list
      break
    end
    local status = STATUS_AFTER[string.match(entry, '^%["([%l_]+)",%d+[,%]]') or 'none']
    if not status then return find(found, 'history_unreadable', history, 'entry ' .. -i .. ' is none of ours') end
    if status ~= '' then
      told = status
      break
    end
  end
  if r.eventsDropped and redis.call('EXISTS', history) == 0 then
    find(found, 'entries_lost', history, 'it has lost its oldest ' .. r.eventsDropped .. ' events, and the others too')
  elseif told and IS_STATUS[r.status or ''] and told ~= r.status then
    find(found, 'history_disagrees', history, 'the record says ' .. r.status .. ', its history ' .. told)
  end
  local logs = r.key .. ':logs'
  if r.logsDropped and redis.call('EXISTS', logs) == 0 then
    find(found, 'entries_lost', logs, 'it has lost its oldest ' .. r.logsDropped .. ' entries, and the others too')
  end
end
