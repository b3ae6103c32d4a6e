-- KEYS deadlines
-- ARGV base isRepairing deliveryTimeoutMs retentionMs ids...
--
-- Compare the records of some jobs of one partition with every index, and with their history, as of one moment.
--   isRepairing   '1' to put right what can be put right from the record, which is the truth; '0' writes nothing
--   ids         at most 50, so that Redis is busy for some 1 ms
-- Returns {'OK', {id, {kind, key, detail, outcome, …}}, …}, a list for each job with faults; see findings.
-- @include clock order job owe findings entry partition checked_record check_order check_places check_duties check_history
local now = nowMs()

local function examine(id)
  local found = findings()
  local r = checkedRecord(found, base, id)
  if not r then return {} end
  if r.isPlaceable then
    checkPlaces(found, r, base, now)
    checkDeadline(found, r, base, now, tonumber(deliveryTimeoutMs), tonumber(retentionMs))
    checkCallback(found, r, base, now)
  end
  checkLists(found, r)
  if isRepairing == '1' then repairAll(found) end
  return found.flat
end

local faulty = {}
for _, id in ipairs(ids) do
  local isDone, faults = pcall(examine, id)
  -- An index or a list that is of another type: nothing more can be said about the job.
  if not isDone then faults = { 'job_unreadable', base .. 'job:' .. id, saying(faults), '' } end
  if #faults > 0 then faulty[#faulty + 1] = { id, { unpack(faults) } } end
end
return { 'OK', unpack(faulty) } -- a constructor, see list.lua
