-- KEYS records index uses
-- ARGV space cursor most
-- REPLY OK ids[] stored?[] usedAt?[]
--
-- Read the newest API keys of a space, behind the place of a cursor.
--   space    empty for the keys of all spaces
--   cursor   id of a key; empty for the newest keys
local first, behindLast = rangeUnder(space)
if cursor ~= '' then behindLast = '(' .. space .. '/' .. cursor end
local ids = redis.call('ZREVRANGEBYLEX', index, behindLast, first, 'LIMIT', 0, most)
if #ids == 0 then return { 'OK', ids, ids, ids } end
for i, entry in ipairs(ids) do ids[i] = string.sub(entry, #space + 2) end
return { 'OK', ids, redis.call('HMGET', records, unpack(ids)), redis.call('HMGET', uses, unpack(ids)) }
