-- KEYS index
-- ARGV base isRepairing space name ids...
--
-- Look whether the entries of an index are those of jobs that may stand in it. Which of its own space's indexes a job
-- belongs in is for check_jobs to say.
--   isRepairing   '1' to remove those that are not; '0' writes nothing
--   space       whose index it is; '' for deadlines and callbacks, which are of all spaces
--   name        of the jobs in this queue; '' for any
--   ids         at most 100
-- Returns {'OK', {id, detail, outcome, …}}; see findings for the outcome.
-- @include clock job findings entry partition
local strays = {}

local function examine(id)
  local key = base .. 'job:' .. id
  local v = redis.call('HMGET', key, 'space', 'name')
  local ofSpace, ofName = stored(v[1]), stored(v[2])
  if not ofSpace and redis.call('EXISTS', key) == 0 then return 'the job does not exist' end
  -- A record that says what cannot be is a fault of its own, and its entries may be all that is left of the truth.
  if not ofSpace or not isSpaceOf(base, ofSpace) then return nil end
  if space ~= '' and ofSpace ~= space then return 'the job is of space ' .. ofSpace end
  if name ~= '' and ofName and ofName ~= name then return 'the job is named ' .. ofName end
end

for _, id in ipairs(ids) do
  local isDone, why = pcall(examine, id)
  -- Not of a record that cannot be read: that is a fault of the record. The entry may be gone since it was read.
  if isDone and why and scoreIn(index, id) then
    local outcome = ''
    if isRepairing == '1' then
      redis.call('ZREM', index, id)
      outcome = 'repaired'
    end
    for _, word in ipairs({ id, why, outcome }) do strays[#strays + 1] = word end
  end
end
return { 'OK', { unpack(strays) } } -- a constructor, see list.lua
