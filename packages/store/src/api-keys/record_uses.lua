-- KEYS records keyUses
-- ARGV uses...
-- REPLY OK
--
-- Record when API keys were used last. A later time that another process has recorded stays, and a key that was revoked
-- is left out.
--   uses   id and age of the last use in ms, for each key
local nowMs = now()
for i = 1, #uses, 2 do
  local usedAt = nowMs - tonumber(uses[i + 1])
  local before = tonumber(redis.call('HGET', keyUses, uses[i]) or 0)
  if usedAt > before and redis.call('HEXISTS', records, uses[i]) == 1 then
    redis.call('HSET', keyUses, uses[i], formatInteger(usedAt))
  end
end
return { 'OK' }
