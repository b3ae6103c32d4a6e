-- A space's /paused says by name whether jobs are paused, '' for the whole space: `1`, or, once the name was resumed and
-- until all of its jobs are in the space's queue again, `>` and the score there up to which they are.

-- Whether something in a space may be paused. It is read once in a script, because no script asks after changing it.
local function isAnythingPaused(prefix)
  if batch and batch.prefix == prefix then return batch.isAnythingPaused end
  local isIt = redis.call('EXISTS', prefix .. 'paused') == 1
  if batch then batch.prefix, batch.isAnythingPaused = prefix, isIt end
  return isIt
end

-- Return which names of a space are paused, as the keys of a table, with '' for the whole space; nil when nothing is.
--   prefix   of every key of the space, with its `/`
local function pausedNames(prefix)
  local fields, names = redis.call('HGETALL', prefix .. 'paused'), nil
  for i = 1, #fields, 2 do
    if fields[i + 1] == '1' then
      names = names or {}
      names[fields[i]] = true
    end
  end
  return names
end

-- Put jobs of resumed names back into their space's queue, each in its place, and wake the polls that wait. Return
-- whether a name has more.
--   limit   jobs to look at, which bounds the step
local function putBack(base, space, limit)
  local prefix = base .. 'space:' .. space .. '/'
  local queue, fields, left, isAny = prefix .. 'queue', redis.call('HGETALL', prefix .. 'paused'), tonumber(limit), false
  for i = 1, #fields, 2 do
    local name, from = fields[i], string.match(fields[i + 1], '^>(.+)$')
    if from and left <= 0 then return true end
    if from then
      -- The score itself again, because two jobs may have the same.
      local entries = redis.call('ZRANGEBYSCORE', queue .. '/' .. name, from, '+inf', 'WITHSCORES', 'LIMIT', 0, left)
      local isLast, missing, last = #entries < 2 * left, {}, entries[#entries]
      for n = 1, #entries, 2 do missing[n], missing[n + 1] = entries[n + 1], entries[n] end
      left = left - #entries / 2
      redis.call('HDEL', prefix .. 'paused', name) -- first: a full Redis lets the rest pass once something was removed
      if not isLast then redis.call('HSET', prefix .. 'paused', name, '>' .. (last == from and '(' .. last or last)) end
      if missing[1] then redis.call('ZADD', queue, 'NX', unpack(missing)) end
      isAny = isAny or missing[1] ~= nil
      if not isLast then left = 0 end
    end
  end
  if isAny then wakeAll(base, space) end
  return left <= 0
end
