-- KEYS list
-- ARGV job isMending
--
-- Look whether a history or logs are those of a job that exists; a list goes with its record.
--   job         key of the record
--   isMending   '1' to unlink a list without one; '0' writes nothing
-- Returns {'OK', '' for a good one, 'orphan', 'mended'}.
if redis.call('EXISTS', job) == 1 or redis.call('EXISTS', list) == 0 then return { 'OK', '' } end
if isMending ~= '1' then return { 'OK', 'orphan' } end
redis.call('UNLINK', list)
return { 'OK', 'mended' }
