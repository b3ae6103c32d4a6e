-- Set the score of a member of a sorted set. collectSets replaces this function in a group.
local function enter(set, score, member)
  redis.call('ZADD', set, score, member)
end

local function leave(set, member)
  redis.call('ZREM', set, member)
end

-- Pending writes to sorted sets, by key and member: a score, or false for a member to remove.
local collected

-- Collect writes to sorted sets until a set is read, or until endBatch.
local function collectSets()
  collected = {}
  local function scoresOf(set)
    collected[set] = {}
    return collected[set]
  end
  function enter(set, score, member) (collected[set] or scoresOf(set))[member] = score end
  function leave(set, member) (collected[set] or scoresOf(set))[member] = false end
end

-- Write what is pending for a sorted set, and return its key. Call this before every read of a set.
local function written(set)
  local scores = collected and collected[set]
  if not scores then return set end
  collected[set] = nil
  -- Preallocated, because a table that grows costs more.
  local added, removed, n, m = { nil, nil, nil, nil, nil, nil, nil, nil }, { nil, nil, nil, nil }, 0, 0
  for member, score in pairs(scores) do
    if score then
      added[n + 1], added[n + 2] = score, member
      n = n + 2
    else
      m = m + 1
      removed[m] = member
    end
  end
  if m > 0 then redis.call('ZREM', set, unpack(removed)) end
  if n > 0 then redis.call('ZADD', set, unpack(added)) end
  return set
end
