-- KEYS spaces
-- ARGV base isRepairing ids...
-- REPLY OK empty[]
--
-- Find listed spaces without a job in any index.
--   isRepairing   '1' to remove them from the list, and their name counts; '0' to write nothing
--   ids           IDs of spaces, at most 100
--   empty         ID, outcome, …; see findings for the outcome
local empty = {}
for _, id in ipairs(ids) do
  local space = base .. 'space:' .. id
  local keys = { space .. '/jobs', space .. '/queue' }
  for _, status in ipairs(STATUSES) do keys[#keys + 1] = space .. '/status/' .. status end
  if redis.call('EXISTS', unpack(keys)) == 0 and redis.call('ZSCORE', spaces, id) then
    local outcome = ''
    if isRepairing == '1' then
      redis.call('ZREM', spaces, id)
      redis.call('UNLINK', space .. '/names')
      outcome = 'repaired'
    end
    empty[#empty + 1] = id
    empty[#empty + 1] = outcome
  end
end
return { 'OK', empty }
