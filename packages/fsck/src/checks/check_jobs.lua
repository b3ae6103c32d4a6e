-- KEYS deadlines
-- ARGV base isRepairing ids...
-- REPLY OK jobs[]...
--
-- Compare the records of some jobs of one partition with every index, and with their history, as of one moment.
--   isRepairing   '1' to repair indexes and lists by the record, which is authoritative; '0' writes nothing
--   ids           at most 50, so that Redis is busy for some 1 ms
--   jobs          id, kind, key, detail, outcome, kind, … for each job with faults; see findings
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
  -- An index or a list is of another type, so nothing more of the job can be checked.
  if not isDone then faults = { 'job_unreadable', base .. 'job:' .. id, messageOf(faults), '' } end
  if #faults > 0 then faulty[#faulty + 1] = { id, unpack(faults) } end
end
return { 'OK', unpack(faulty) }
