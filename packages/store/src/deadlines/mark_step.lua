-- KEYS stepped
-- ARGV readAt
-- REPLY OK marked:number
--
-- Record that the clock of Redis has just stepped forward. expire.lua then restarts the window of a due job once, if its worker's
-- last call was before the step. Each step is recorded once, by whichever scheduler notices it first.
--   readAt     what the clock of Redis showed when the caller last read it, before the step
--   marked     1 if this call recorded the step, 0 if another scheduler already had
local nowMs, nowText = now()
local known = tonumber(redis.call('GET', stepped) or 0)
-- A mark in the future was made before a step back.
if known > tonumber(readAt) and known <= nowMs then return { 'OK', 0 } end
redis.call('DEL', stepped) -- A full Redis accepts the writes after a removal.
redis.call('SET', stepped, nowText)
return { 'OK', 1 }
