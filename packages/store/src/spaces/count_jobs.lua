-- KEYS jobs
-- ARGV space
-- REPLY OK at:number counts:number[]
--
-- Count the jobs of a space by status, in one snapshot.
--   jobs     the space's /jobs, which determines the cluster node
--   space    prefix of every key of the space, with its `/`
--   at       current time, epoch ms
--   counts   in the order of a job's life
local counts = {}
for i, status in ipairs(STATUSES) do counts[i] = redis.call('ZCARD', space .. 'status/' .. status) end
return { 'OK', formatInteger(now()), counts }
