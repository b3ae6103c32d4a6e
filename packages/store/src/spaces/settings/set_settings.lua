-- KEYS settings
-- ARGV base space before after maxBytes
-- REPLY OK
-- REPLY CHANGED
--
-- Replace the settings of a space, unless another call has changed them in the meantime.
--   settings        of all spaces of a partition, see keys.ts
--   before, after   see storedSettings; '' for none
--   maxBytes        of the settings after the change; '' for none
if (redis.call('HGET', settings, space) or '') ~= before then return { 'CHANGED' } end
redis.call('HDEL', settings, space) -- A full Redis lets the rest pass once something was removed.
if after ~= '' then redis.call('HSET', settings, space, after) end
redis.call('HINCRBY', settings, '', 1) -- the version, by which processes notice a change whose message was lost
applyMaxBytes(base, space, maxBytes)
return { 'OK' }
