-- KEYS sums
-- ARGV isRepairing round before right
-- REPLY RIGHT
-- REPLY WRONG repair
-- REPLY CHANGED
--
-- Compare the byte total of a space with the sum of its jobs. CHANGED means that a job was measured in the meantime, or that a
-- recount is running.
--   sums            the space's /bytes; see lua/bytes of the store
--   isRepairing     '1' to correct the sum, '0' to write nothing
--   round, before   round and sum before the jobs were read
--   right           sum of the jobs of this round
--   repair          outcome of the repair; see findings
local v = redis.call('HMGET', sums, 'round', 'sum', 'cursor')
if v[1] ~= round or (v[2] or '0') ~= before or v[3] then return { 'CHANGED' } end
if before == right then return { 'RIGHT' } end
if isRepairing ~= '1' then return { 'WRONG', '' } end
redis.call('HDEL', sums, 'sum') -- A full Redis accepts the writes after a removal.
redis.call('HSET', sums, 'sum', right)
return { 'WRONG', 'repaired' }
