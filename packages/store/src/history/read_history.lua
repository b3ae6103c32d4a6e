-- KEYS jobs
-- ARGV history times...
-- REPLY OK points[][]
--
-- Read points of the history of a space.
--   jobs      the space's /jobs, which determines the cluster node
--   history   prefix of the keys of its points
--   times     start of each point, epoch seconds; at most 60
--   points    for each point: name, text of its counts, …; see add_history.lua
local points = {}
for i, time in ipairs(times) do points[i] = redis.call('HGETALL', history .. time) end
return { 'OK', points }
