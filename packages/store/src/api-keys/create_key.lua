-- KEYS records index children
-- ARGV keyId record space maker
-- REPLY OK
-- ERRORS UNAUTHENTICATED TOO_MANY_KEYS
--
-- Store an API key and its entries in the indexes, unless its space already has KEYS_PER_SPACE keys. The key that makes it may
-- have been revoked since its call was authenticated.
--   space   empty for every space
--   maker   ID of the key that makes it; empty for none
if maker ~= '' and redis.call('HEXISTS', records, maker) == 0 then return { 'UNAUTHENTICATED' } end
if space ~= '' and redis.call('ZLEXCOUNT', index, rangeUnder(space)) >= KEYS_PER_SPACE then return { 'TOO_MANY_KEYS' } end
redis.call('HSET', records, keyId, record)
redis.call('ZADD', index, 0, '/' .. keyId)
if space ~= '' then redis.call('ZADD', index, 0, space .. '/' .. keyId) end
if maker ~= '' then redis.call('ZADD', children, 0, maker .. '/' .. keyId .. '/' .. space) end
return { 'OK' }
