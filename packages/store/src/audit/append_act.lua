-- KEYS audit
-- ARGV most fields...
-- REPLY OK
--
-- Append an act to the audit, and drop the oldest. It must work when memory is full, because kill and delete do, so it
-- removes first.
--   most     acts that are kept
--   fields   names and values of the entry
redis.call('XTRIM', audit, 'MAXLEN', tonumber(most) - 1)
local _, nowText = now()
redis.call('XADD', audit, '*', 'at', nowText, unpack(fields))
return { 'OK' }
