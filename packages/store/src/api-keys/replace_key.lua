-- KEYS records
-- ARGV keyId expected record channel message
-- REPLY OK
-- REPLY CHANGED
--
-- Replace the record of an API key if it is still the expected one, and announce the change. Remove the old record first,
-- because a rotation must work on a full Redis.
if redis.call('HGET', records, keyId) ~= expected then return { 'CHANGED' } end
redis.call('HDEL', records, keyId)
redis.call('HSET', records, keyId, record)
redis.call('PUBLISH', channel, message)
return { 'OK' }
