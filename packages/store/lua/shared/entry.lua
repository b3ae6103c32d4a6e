-- The score of a member, nil when it is not there.
local function scoreIn(index, member)
  return tonumber(stored(redis.call('ZSCORE', index, member)) or '')
end

-- Put a member at a score. A full Redis lets the ZADD pass once something was removed.
local function place(index, score, member)
  redis.call('ZREM', index, member)
  redis.call('ZADD', index, score, member)
end

-- A job must stand in this index, at this score.
local function mustBeIn(found, index, id, score)
  local actual = scoreIn(index, id)
  if actual == tonumber(score) then return end
  local kind = actual and 'entry_misplaced' or 'entry_missing'
  local detail = actual and ('at ' .. digits(actual) .. ' instead of ' .. score) or ('belongs at ' .. score)
  find(found, kind, index, detail, found.additions, function() place(index, score, id) end)
end

-- A job must not stand in this index.
local function mustNotBeIn(found, index, id, why)
  if not scoreIn(index, id) then return end
  find(found, 'entry_wrong', index, why, found.removals, function() redis.call('ZREM', index, id) end)
end
