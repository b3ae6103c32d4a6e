-- Call a function for each entry of a sorted set that is due before a time, earliest first. The function gets the ID, the time
-- and the number of the entry. It fails for a record that is invalid or from a newer release; that entry is postponed by a
-- minute, so that it does not block the sweep. Return the number of entries, and the IDs of those that failed.
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
