-- What a script for many jobs writes at its end, so that it asks Redis less often. The fields:
--   scores   of sorted sets, by key and member; false for a member to be removed
--   counts   to add to scores, by key and member
--   order    last order score of the space
local later = { scores = {}, counts = {} }

-- Write the sorted sets, or only one of them.
local function writeSets(call, only)
  for key, scores in pairs(later.scores) do
    if not only or key == only then
      local added, removed = {}, {}
      for member, score in pairs(scores) do
        if score then added[#added + 1], added[#added + 2] = score, member else removed[#removed + 1] = member end
      end
      if #removed > 0 then call('ZREM', key, unpack(removed)) end
      if #added > 0 then call('ZADD', key, unpack(added)) end
      later.scores[key] = nil
    end
  end
end

-- The functions of Redis, in a script for many jobs. Its text has the functions of scripts for one job: they write
-- sorted sets with ZADD and ZREM, one member at a time.
local redis = {
  pcall = redis.pcall,
  direct = redis.call,
  call = (function(call)
    return function(command, ...)
      local key, a, b = ...
      if command == 'ZADD' or command == 'ZREM' then
        local scores = later.scores[key] or {}
        later.scores[key] = scores
        if command == 'ZADD' then scores[b] = a else scores[a] = false end
        -- The first removal is made at once: a full Redis lets the rest pass then.
        if not later.isWritten and command == 'ZREM' then
          later.isWritten, scores[a] = true, nil
          return call(command, key, a)
        end
        return nil
      elseif command == 'ZINCRBY' then
        later.counts[key] = later.counts[key] or {}
        later.counts[key][b] = (later.counts[key][b] or 0) + a
        return nil
      elseif later.scores[key] then
        writeSets(call, key) -- It is read.
      end
      return call(command, ...)
    end
  end)(redis.call),
}
