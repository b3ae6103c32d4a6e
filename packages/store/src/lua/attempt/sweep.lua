-- Call a function for each entry of a sorted set of times that is before a time, the earliest first: with its id, its time
-- and its number. A record that is not valid, or of a later release, makes the function fail. Its entry comes again in a
-- minute, so that it does not stop the sweep. Return the number of entries, and the ids of the broken ones.
local function sweep(set, before, limit, nowMs, processOne)
  local entries = redis.call('ZRANGEBYSCORE', set, '-inf', '(' .. formatInteger(before), 'WITHSCORES', 'LIMIT', 0, limit)
  local broken = {}
  for i = 1, #entries, 2 do
    if not pcall(processOne, entries[i], tonumber(entries[i + 1]), (i + 1) / 2) then
      replaceEntry(set, entries[i], formatInteger(nowMs + 60000))
      broken[#broken + 1] = entries[i]
    end
  end
  return #entries / 2, broken
end
