-- KEYS index
-- ARGV base isRepairing space name tag ids...
-- REPLY OK strays[]
--
-- Check that the jobs of an index exist and can be in it. check_jobs decides which indexes of its own space a job belongs in.
--   isRepairing   '1' to remove stray entries, '0' to write nothing
--   space         space of the index; '' for deadlines, due and callbacks, which cover all spaces
--   name, tag     name or tag that the jobs in this index must have; '' for any
--   ids           at most 100
--   strays        ID, detail, outcome, …; see findings for the outcome
local strays = {}

local function examine(id)
  local key = base .. 'job:' .. id
  local v = redis.call('HMGET', key, 'state', 'tags')
  local ofSpace, ofName = spaceAndName(v[1])
  if not ofSpace and redis.call('EXISTS', key) == 0 then return 'the job does not exist' end
  -- An invalid record is reported separately, and its entries may be all that is left of the job.
  if not ofSpace or not isSpaceOf(base, ofSpace) then return nil end
  if space ~= '' and ofSpace ~= space then return 'the job belongs to space ' .. ofSpace end
  if name ~= '' and ofName ~= name then return 'the job is named ' .. ofName end
  if tag ~= '' and not hasTags(v[2], tag) then return 'the job does not have this tag' end
end

for _, id in ipairs(ids) do
  local isDone, why = pcall(examine, id)
  -- Skip a record that cannot be read: that is reported as a fault of the record. The entry may be gone since it was read.
  if isDone and why and scoreIn(index, id) then
    local outcome = ''
    if isRepairing == '1' then
      redis.call('ZREM', index, id)
      outcome = 'repaired'
    end
    for _, word in ipairs({ id, why, outcome }) do strays[#strays + 1] = word end
  end
end
return { 'OK', strays }
