-- KEYS audit
-- ARGV most fields...
-- REPLY OK
--
-- Append an act to a stream of the audit. Once the stream has `most` entries, drop the oldest act of the owner with the most, so
-- that one space cannot push out the acts of others. The first write is a removal, because an audited kill or delete must work on
-- a full Redis.
--   audit    the stream; `<audit>/of/<owner>` has the IDs of an owner's acts by time, and `<audit>/owners` the number for each
--   most     maximum number of acts in the stream
--   fields   fields of the entry (name, value, …)
redis.call('XTRIM', audit, 'MAXLEN', most) -- Normally this removes nothing, but a full Redis then accepts the writes below.
if redis.call('XLEN', audit) >= tonumber(most) then
  -- Break a tie by the oldest act, among at most ten owners. IDs are compared as text, which may be wrong within a millisecond.
  local largest, victim, oldest = redis.call('ZREVRANGE', audit .. '/owners', 0, 9, 'WITHSCORES'), nil, nil
  for i = 1, #largest, 2 do
    local id = largest[i + 1] == largest[2] and redis.call('ZRANGE', audit .. '/of/' .. largest[i], 0, 0)[1]
    if id and (not oldest or id < oldest) then victim, oldest = largest[i], id end
  end
  if victim then
    redis.call('XDEL', audit, oldest)
    removeAct(audit, victim, oldest)
  else
    redis.call('XTRIM', audit, 'MAXLEN', most - 1)
  end
end
local _, nowText = now()
enterAct(audit, ownerOfAct(fields), redis.call('XADD', audit, '*', 'at', nowText, unpack(fields)))
return { 'OK' }
