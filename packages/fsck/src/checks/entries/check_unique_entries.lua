-- KEYS index
-- ARGV base isRepairing space entries...
-- REPLY OK strays[]
--
-- Check that the entries of a space's unique keys name jobs that have these keys. check_jobs decides whether a job still
-- occupies its key.
--   index         the space's /unique
--   isRepairing   '1' to remove stray entries, '0' to write nothing
--   entries       field, job ID, …; at most 100 pairs
--   strays        ID, detail, outcome, …; see findings for the outcome
local strays = {}

local function examine(field, id)
  local key = base .. 'job:' .. id
  local v = redis.call('HMGET', key, 'state', 'unique')
  local ofSpace, ofName = spaceAndName(v[1])
  if not ofSpace then return redis.call('EXISTS', key) == 0 and 'the job does not exist' or nil end
  if ofSpace ~= space then return 'the job belongs to space ' .. ofSpace end
  local _, itsField = uniqueEntry({ base = base, space = space, name = ofName }, v[2] or '')
  if itsField ~= field then return 'the job does not have this unique key' end
end

for i = 1, #entries, 2 do
  local field, id = entries[i], entries[i + 1]
  local isDone, why = pcall(examine, field, id)
  -- Skip a record that cannot be read: that is reported as a fault of the record. The entry may be gone since it was read.
  if isDone and why and redis.call('HGET', index, field) == id then
    local outcome = ''
    if isRepairing == '1' then
      redis.call('HDEL', index, field)
      outcome = 'repaired'
    end
    for _, word in ipairs({ id, why, outcome }) do strays[#strays + 1] = word end
  end
end
return { 'OK', strays }
