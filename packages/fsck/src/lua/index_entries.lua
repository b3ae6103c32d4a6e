-- Return the score of a member; nil if it is not in the index.
local function scoreIn(index, member)
  return tonumber(redis.call('ZSCORE', index, member) or '')
end

-- Check that a job is in this index at this score.
local function mustBeIn(found, index, id, score)
  local actual = scoreIn(index, id)
  if actual == tonumber(score) then return end
  local kind = actual and 'entry_misplaced' or 'entry_missing'
  local detail = actual and ('at ' .. formatInteger(actual) .. ' instead of ' .. score) or ('belongs at ' .. score)
  find(found, kind, index, detail, found.additions, function() replaceEntry(index, id, score) end)
end

-- Check that a job is not in this index.
local function mustNotBeIn(found, index, id, why)
  if not scoreIn(index, id) then return end
  find(found, 'entry_wrong', index, why, found.removals, function() redis.call('ZREM', index, id) end)
end
