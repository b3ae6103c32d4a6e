-- KEYS spaces
-- ARGV base isRepairing ids...
--
-- Look for spaces that are listed and have no job in any index.
--   isRepairing   '1' to strike them off, with the names of jobs that they had; '0' writes nothing
--   ids         of spaces, at most 100
-- Returns {'OK', {id, outcome, …}}; see findings for the outcome.
local INDEXES = { 'jobs', 'queue', 'status/pending', 'status/delivered', 'status/running', 'status/completed', 'status/dead', 'status/killed' }

local empty = {}
for _, id in ipairs(ids) do
  local keys = {}
  for i, index in ipairs(INDEXES) do keys[i] = base .. 'space:' .. id .. '/' .. index end
  if redis.call('EXISTS', unpack(keys)) == 0 and redis.call('ZSCORE', spaces, id) then
    local outcome = ''
    if isRepairing == '1' then
      redis.call('ZREM', spaces, id)
      redis.call('UNLINK', base .. 'space:' .. id .. '/names')
      outcome = 'repaired'
    end
    empty[#empty + 1] = id
    empty[#empty + 1] = outcome
  end
end
return { 'OK', { unpack(empty) } } -- a constructor, see list.lua
