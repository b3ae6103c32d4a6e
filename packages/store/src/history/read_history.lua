-- KEYS jobs
-- ARGV history times...
-- REPLY OK points[][]
--
-- Read points of the history of a space.
--   jobs      the space's /jobs, which names the node of a cluster
--   history   prefix of the keys of its points
--   times     epoch seconds of their beginnings, at most 60
--   points    for each: name, text of its counts, …; see add_history.lua
local points = {}
for i, time in ipairs(times) do points[i] = redis.call('HGETALL', history .. time) end
return { 'OK', points }
