-- KEYS record
-- ARGV base id isRepairing
-- REPLY OK state
--
-- Check that a running operation is listed for the schedulers.
--   isRepairing   '1' to list it, '0' to write nothing
--   state         '' for a sound operation, 'stopped', or 'repaired'
local running, status = base .. 'operations', redis.call('HGET', record, 'status')
if status ~= 'running' or scoreIn(running, id) then return { 'OK', '' } end
if isRepairing ~= '1' then return { 'OK', 'stopped' } end
local _, nowText = now()
redis.call('ZADD', running, nowText, id)
return { 'OK', 'repaired' }
