-- KEYS jobs
-- ARGV space
-- REPLY OK at:number counts:number[]
--
-- Count the jobs of a space by status, as of one moment.
--   jobs     the space's /jobs, which names the node of a cluster
--   space    prefix of every key of the space, with its `/`
--   at       now, epoch ms
--   counts   in the order of a job's life
local counts = {}
for i, status in ipairs(STATUSES) do counts[i] = redis.call('ZCARD', space .. 'status/' .. status) end
return { 'OK', formatInteger(now()), counts }
