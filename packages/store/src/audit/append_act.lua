-- KEYS audit
-- ARGV most fields...
-- REPLY OK
--
-- Append an act to a stream of the audit. Once the stream has `most`, drop the oldest act of the owner that has the most of
-- them, so that one space cannot push out the acts of others. It must work when memory is full, because kill and delete do,
-- so it removes first.
--   audit    the stream; `<audit>/of/<owner>` are the ids of an owner's acts by time, and `<audit>/owners` their numbers
--   most     acts that are kept
--   fields   names and values of the entry
redis.call('XTRIM', audit, 'MAXLEN', most) -- As a rule, this only makes a full Redis accept the writes below.
if redis.call('XLEN', audit) >= tonumber(most) then
  -- Of owners with equally many, the one whose oldest act is older; but ten are enough to look at. Ids are compared as text,
  -- which may be wrong within a millisecond.
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
