-- KEYS stepped
-- ARGV readAt
-- REPLY OK marked:number
--
-- Record that Redis' clock has just stepped forward: expire then gives every job that is due one more window if its
-- worker's last call was before that. It is recorded once for each step, for any number of schedulers.
--   readAt     when the caller last read this clock, before the step, in Redis' time
--   marked     1 when this call recorded it, 0 when another scheduler had done so
local nowMs, nowText = now()
local known = tonumber(redis.call('GET', stepped) or 0)
-- One in the future is from before a step back.
if known > tonumber(readAt) and known <= nowMs then return { 'OK', 0 } end
redis.call('DEL', stepped) -- A full Redis lets the rest pass once something was removed.
redis.call('SET', stepped, nowText)
return { 'OK', 1 }
