-- KEYS schedules
-- ARGV base isRepairing member version nextAt createdAt dueAt latest
-- REPLY OK found[]
--
-- Check that a schedule is in the list of its space, and due when its record says. Nothing is found if it has just changed.
--   schedules         see keys.ts of the store
--   isRepairing       '1' to repair, '0' to write nothing
--   member            `<space>/<id>`
--   version, nextAt   fields of its record as it was read; '' for none
--   createdAt         '' if it must not be in the list, '-' if it may be, else when it was created, epoch ms
--   dueAt, latest     '' if it must not be due, '-' if it may be, else when it is due and the latest valid time, epoch ms
--   found             kind, key, detail, outcome, …; see findings
local found = findings()
local space, id = string.match(member, '^(.-)/(.*)$')
local v = redis.call('HMGET', base .. 'schedule:' .. member, 'version', 'nextAt')
if (v[1] or '') ~= version or (v[2] or '') ~= nextAt then return { 'OK', found.flat } end

local function leaveIndex(index, entry)
  find(found, 'schedule_stray', index, member .. ' does not belong there', found.removals, function() redis.call('ZREM', index, entry) end)
end

local function mustBeBetween(index, entry, least, most, enterIndex)
  local score = scoreIn(index, entry)
  if score and score >= least and score <= most then return end
  local detail = member .. (score and ' is at ' .. formatInteger(score) or ' belongs at ' .. formatInteger(least))
  find(found, score and 'schedule_misplaced' or 'schedule_unlisted', index, detail, found.additions, enterIndex)
end

local list = base .. 'space:' .. (space or '') .. '/schedules'
if createdAt == '' then
  if space and scoreIn(list, id) then leaveIndex(list, id) end
elseif createdAt ~= '-' then
  local first = createdAt * 1024
  mustBeBetween(list, id, first, LAST_ORDER - 1, function()
    redis.call('ZREM', list, id)
    -- No two may have the same place, because a page starts after the last place of the previous one.
    local last = redis.call('ZREVRANGEBYSCORE', list, first + 1023, first, 'WITHSCORES', 'LIMIT', 0, 1)[2]
    redis.call('ZADD', list, formatInteger(last and last + 1 or first), id)
  end)
end
if dueAt == '' then
  if scoreIn(schedules, member) then leaveIndex(schedules, member) end
elseif dueAt ~= '-' then
  mustBeBetween(schedules, member, tonumber(dueAt), tonumber(latest), function() replaceEntry(schedules, member, dueAt) end)
end
if isRepairing == '1' then repairAll(found) end
return { 'OK', found.flat }
