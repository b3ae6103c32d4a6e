-- KEYS paused
-- ARGV base isRepairing space
-- REPLY OK found[]
--
-- Check the pauses of a space: each name is paused or being resumed, and a sweep handles it.
--   paused        the space's /paused; see lua/waiting/paused.lua of the store
--   isRepairing   '1' to repair, '0' to write nothing
--   found         kind, key, detail, outcome, …; see findings
local found, hasNames = findings(), false
local fields = redis.call('HGETALL', paused)
for i = 1, #fields, 2 do
  local name, value = fields[i], fields[i + 1]
  hasNames = hasNames or name ~= ''
  if value ~= '1' and (name == '' or not string.find(value, '^>')) then
    find(found, 'pause_broken', paused, '"' .. name .. '" is "' .. value .. '"', found.additions, function()
      redis.call('HDEL', paused, name)
      if name ~= '' then redis.call('HSET', paused, name, '>-inf') end
    end)
  end
end
if hasNames and not scoreIn(base .. 'pauses', space) then
  find(found, 'pause_forgotten', base .. 'pauses', space .. ' has paused names', found.additions, function()
    replaceEntry(base .. 'pauses', space, formatInteger(now()))
  end)
end
if isRepairing == '1' then repairAll(found) end
return { 'OK', found.flat }
