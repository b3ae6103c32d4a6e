-- KEYS record
-- ARGV base id isRepairing
-- REPLY OK state
--
-- Check that an operation that is running is one that schedulers carry out.
--   isRepairing   '1' to let them; '0' writes nothing
--   state         '' for a good one, 'stopped', or 'repaired'
local running, status = base .. 'operations', redis.call('HGET', record, 'status')
if status ~= 'running' or scoreIn(running, id) then return { 'OK', '' } end
if isRepairing ~= '1' then return { 'OK', 'stopped' } end
local _, nowText = now()
redis.call('ZADD', running, nowText, id)
return { 'OK', 'repaired' }
