-- KEYS settings
-- ARGV base space before after maxBytes
-- REPLY OK
-- REPLY CHANGED
--
-- Replace the settings of a space, unless another call has changed them in the meantime.
--   settings        settings of all spaces of the partition; see keys.ts
--   before, after   see storedSettings; '' for none
--   maxBytes        maxBytes after the change; '' for none
if (redis.call('HGET', settings, space) or '') ~= before then return { 'CHANGED' } end
redis.call('HDEL', settings, space) -- A full Redis accepts the writes after a removal.
if after ~= '' then redis.call('HSET', settings, space, after) end
redis.call('HINCRBY', settings, '', 1) -- the version, which lets processes notice a change whose message was lost
applyMaxBytes(base, space, maxBytes)
return { 'OK' }
