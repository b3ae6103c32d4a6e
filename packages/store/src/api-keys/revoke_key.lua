-- KEYS records index children uses revoking
-- ARGV keyId space maker keepsChildren channel most
-- REPLY OK revoked[]
--
-- Revoke an API key and all keys that descend from it, at most `most` descendants per step. If some remain, `revoking` lists their
-- makers for the next step. The first write is a removal, because a revocation must work on a full Redis.
--   space           empty for every space, and for a key that is already revoked
--   maker           ID of the key that made it; empty for none, and for a key that is already revoked
--   keepsChildren   '1' to keep the keys that it made
--   revoked         IDs of all keys revoked in this step
redis.call('SREM', revoking, keyId)
if keepsChildren == '1' then redis.call('ZREMRANGEBYLEX', children, rangeUnder(keyId)) end

local revoked = {}
local function revoke(id, ofSpace)
  if redis.call('HDEL', records, id) == 0 then return end
  redis.call('HDEL', uses, id)
  redis.call('ZREM', index, '/' .. id, ofSpace .. '/' .. id)
  revoked[#revoked + 1] = id
end

-- Return the entries of the keys that a key made.
local function madeBy(id, count)
  local from, to = rangeUnder(id)
  return redis.call('ZRANGEBYLEX', children, from, to, 'LIMIT', 0, count)
end

revoke(keyId, space)
redis.call('ZREM', children, maker .. '/' .. keyId .. '/' .. space)
local makers, at, left = { keyId }, 1, tonumber(most)
while makers[at] and left > 0 do
  local entries = madeBy(makers[at], left)
  for _, entry in ipairs(entries) do
    local id, ofSpace = string.match(entry, '^[^/]*/([^/]*)/(.*)$')
    redis.call('ZREM', children, entry)
    revoke(id, ofSpace)
    makers[#makers + 1] = id
  end
  left = left - #entries
  if left > 0 then at = at + 1 end
end
for i = at, #makers do
  if #madeBy(makers[i], 1) > 0 then redis.call('SADD', revoking, makers[i]) end
end
if #revoked > 0 then redis.call('PUBLISH', channel, table.concat(revoked, ',')) end
return { 'OK', revoked }
