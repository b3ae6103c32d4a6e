-- KEYS records
-- ARGV keyId expected record channel message
-- REPLY OK
-- REPLY CHANGED
--
-- Replace the record of an API key, unless it is no longer the expected one, and announce it. It must work when memory
-- is full, so it removes the record first.
if redis.call('HGET', records, keyId) ~= expected then return { 'CHANGED' } end
redis.call('HDEL', records, keyId)
redis.call('HSET', records, keyId, record)
redis.call('PUBLISH', channel, message)
return { 'OK' }
