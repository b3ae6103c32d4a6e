-- KEYS deadlines
-- ARGV base isRepairing ids...
-- REPLY OK jobs[]...
--
-- Compare the records of some jobs of one partition with every index and with their history, in one snapshot.
--   isRepairing   '1' to repair indexes and lists from the record, which is authoritative; '0' to write nothing
--   ids           at most 50, which keeps Redis busy for about 1 ms
--   jobs          for each job with faults: ID, kind, key, detail, outcome, kind, …; see findings
local nowMs = now()

local function examine(id)
  local found = findings()
  local r = checkedRecord(found, base, id)
  if not r then return {} end
  if r.isPlaceable then
    checkIndexes(found, r, base, nowMs)
    checkUnique(found, r, base, nowMs)
    checkDeadline(found, r, base, nowMs)
    if r.hasTimes then checkDue(found, r, base) end
    if r.isCallbackKnown then checkCallback(found, r, base, nowMs) end
  end
  checkLists(found, r)
  if isRepairing == '1' then repairAll(found) end
  return found.flat
end

local faulty = {}
for _, id in ipairs(ids) do
  local isDone, faults = pcall(examine, id)
  -- An index or a list has a wrong type, so the rest of the job cannot be checked.
  if not isDone then faults = { 'job_unreadable', base .. 'job:' .. id, messageOf(faults), '' } end
  if #faults > 0 then faulty[#faulty + 1] = { id, unpack(faults) } end
end
return { 'OK', unpack(faulty) }
