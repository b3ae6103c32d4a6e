-- KEYS key
-- ARGV isRepairing owners...
--
-- Look whether a key is there without any of those that it goes with.
--   isRepairing   '1' to unlink it then; '0' writes nothing
--   owners      their keys
-- Returns {'OK', '' for a good one, 'orphan', 'repaired'}.
if redis.call('EXISTS', unpack(owners)) > 0 or redis.call('EXISTS', key) == 0 then return { 'OK', '' } end
if isRepairing ~= '1' then return { 'OK', 'orphan' } end
redis.call('UNLINK', key)
return { 'OK', 'repaired' }
