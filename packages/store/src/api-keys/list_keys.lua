-- KEYS records index uses
-- ARGV space cursor most
-- REPLY OK ids[] stored?[] usedAt?[]
--
-- List the API keys bound to a space, newest first, after a cursor.
--   space    empty for the keys of all spaces
--   cursor   ID of the last key of the previous page; empty for the first page
--   most     maximum number of keys
local first, behindLast = rangeUnder(space)
if cursor ~= '' then behindLast = '(' .. space .. '/' .. cursor end
local ids = redis.call('ZREVRANGEBYLEX', index, behindLast, first, 'LIMIT', 0, most)
if #ids == 0 then return { 'OK', ids, ids, ids } end
for i, entry in ipairs(ids) do ids[i] = string.sub(entry, #space + 2) end
return { 'OK', ids, redis.call('HMGET', records, unpack(ids)), redis.call('HMGET', uses, unpack(ids)) }
