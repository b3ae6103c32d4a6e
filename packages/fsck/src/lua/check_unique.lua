-- Check the entry of a job's unique key, which names the job while the job occupies the key.
local function checkUnique(found, r, base, nowMs)
  if not r.unique then return end
  local job = { base = base, id = r.id, space = r.space, name = r.name, status = r.status, order = r.order }
  local index, field, lasts = uniqueEntry(job, r.unique)
  local isNamed = redis.call('HGET', index, field) == r.id
  if occupiesUnique(job, r.unique, r.uniqueFreed, nowMs) then
    if isNamed then return end
    local other, isOccupied = uniqueHolder(job, r.unique, nowMs)
    if isOccupied then return find(found, 'unique_twice', index, 'job ' .. other.id .. ' also occupies the key') end
    find(found, 'entry_missing', index, 'the job occupies its unique key', found.additions, function()
      redis.call('HDEL', index, field) -- A full Redis accepts the writes after a removal.
      redis.call('HSET', index, field, r.id)
    end)
  elseif isNamed and (lasts ~= 'expired' or r.uniqueFreed) then -- an expired key keeps its entry until the purge
    local why = r.uniqueFreed and 'the job has freed its unique key' or 'the job is ' .. r.status
    find(found, 'entry_wrong', index, why, found.removals, function() redis.call('HDEL', index, field) end)
  end
end

-- Check that the field `unique` of a record is valid.
local function isUnique(unique)
  local lasts, onConflict, ttlSeconds, key = string.match(unique, '^(%l+) (%l+) (%d+) (.+)$')
  if not key or (lasts == 'expired') ~= (tonumber(ttlSeconds) > 0) then return false end
  local isKnown = lasts == 'ended' or lasts == 'started' or lasts == 'expired'
  return isKnown and (onConflict == 'return' or onConflict == 'reject' or onConflict == 'replace')
end
