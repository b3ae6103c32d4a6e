-- KEYS key
-- ARGV isRepairing owners...
-- REPLY OK state
--
-- Check whether a key exists without any of the keys that it belongs to.
--   isRepairing   '1' to delete an orphan, '0' to write nothing
--   owners        the keys that it belongs to
--   state         '' for a sound key, 'orphan', or 'repaired'
if redis.call('EXISTS', unpack(owners)) > 0 or redis.call('EXISTS', key) == 0 then return { 'OK', '' } end
if isRepairing ~= '1' then return { 'OK', 'orphan' } end
redis.call('UNLINK', key)
return { 'OK', 'repaired' }
