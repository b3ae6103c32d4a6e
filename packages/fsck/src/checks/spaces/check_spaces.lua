-- KEYS spaces
-- ARGV base isRepairing ids...
-- REPLY OK empty[]
--
-- Find spaces that are listed and have no job in any index.
--   isRepairing   '1' to remove them from the list, with the names of jobs that they had; '0' writes nothing
--   ids           of spaces, at most 100
--   empty         id, outcome, …; see findings for the outcome
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
