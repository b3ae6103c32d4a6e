-- KEYS records keyUses
-- ARGV uses...
-- REPLY OK
--
-- Record when API keys were last used. A later time from another process is kept, and a revoked key is skipped.
--   uses   for each key: its ID, and how long ago it was last used, in ms
local nowMs = now()
for i = 1, #uses, 2 do
  local usedAt = nowMs - tonumber(uses[i + 1])
  local before = tonumber(redis.call('HGET', keyUses, uses[i]) or 0)
  if usedAt > before and redis.call('HEXISTS', records, uses[i]) == 1 then
    redis.call('HSET', keyUses, uses[i], formatInteger(usedAt))
  end
end
return { 'OK' }
