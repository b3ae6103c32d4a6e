-- KEYS audit
-- ARGV isRepairing owner ids...
-- REPLY OK found[]
--
-- Compare acts in a stream of the audit with the index of their owner, and with the number of its acts.
--   audit         the stream; see append_act.lua of the store
--   isRepairing   '1' to repair, '0' to write nothing
--   owner         expected owner of the acts, whose number of acts is also checked
--   ids           IDs of acts, at most 100
--   found         kind, key, detail, outcome, …; see findings
local found = findings()

local function compare(of, id, isOwn)
  local acts = audit .. '/of/' .. of
  if isOwn == (scoreIn(acts, id) ~= nil) then return end
  local detail = isOwn and ' is not listed' or ' is listed, but is not an act of this owner'
  find(found, 'act_index_wrong', acts, id .. detail, isOwn and found.additions or found.removals, function()
    if isOwn then enterAct(audit, of, id) else removeAct(audit, of, id) end
  end)
end

for _, id in ipairs(ids) do
  local entry = string.find(id, '^%d+%-%d+$') and redis.call('XRANGE', audit, id, id)[1]
  local of = entry and ownerOfAct(entry[2])
  if entry then compare(of, id, true) end
  if owner ~= of then compare(owner, id, false) end
end
local number, known = redis.call('ZCARD', audit .. '/of/' .. owner), tonumber(scoreIn(audit .. '/owners', owner) or 0)
if number ~= known then
  local detail = '"' .. owner .. '" has ' .. formatInteger(known) .. ' acts instead of ' .. number
  find(found, 'act_index_wrong', audit .. '/owners', detail, found.removals, function() countActs(audit, owner) end)
end
if isRepairing == '1' then repairAll(found) end
return { 'OK', found.flat }
