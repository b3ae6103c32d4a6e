-- A space's /paused is a hash from a job name, or '' for the whole space, to its state: `1` while it is paused. After a resume,
-- until all jobs of the name are back in the space's queue, the state is `>` and the score up to which they are back.

-- Check whether anything in a space may be paused. A group reads it once, because no script checks after changing it.
local function isAnythingPaused(prefix)
  if batch and batch.prefix == prefix then return batch.isAnythingPaused end
  local isIt = redis.call('EXISTS', prefix .. 'paused') == 1
  if batch then batch.prefix, batch.isAnythingPaused = prefix, isIt end
  return isIt
end

-- Return the paused names of a space as the keys of a table, '' for the whole space; nil when nothing is paused.
--   prefix   prefix of every key of the space, with its `/`
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

-- Put jobs of resumed names back in the queue of their space, each in its place, and wake the waiting polls. Return whether more
-- remain.
--   limit   maximum number of jobs to examine
local function putBack(base, space, limit)
  local prefix = base .. 'space:' .. space .. '/'
  local queue, fields, left, isAny = prefix .. 'queue', redis.call('HGETALL', prefix .. 'paused'), tonumber(limit), false
  for i = 1, #fields, 2 do
    local name, from = fields[i], string.match(fields[i + 1], '^>(.+)$')
    if from and left <= 0 then return true end
    if from then
      -- Include the score itself, because two jobs can have the same score.
      local entries = redis.call('ZRANGEBYSCORE', queue .. '/' .. name, from, '+inf', 'WITHSCORES', 'LIMIT', 0, left)
      local isLast, missing, last = #entries < 2 * left, {}, entries[#entries]
      for n = 1, #entries, 2 do missing[n], missing[n + 1] = entries[n + 1], entries[n] end
      left = left - #entries / 2
      redis.call('HDEL', prefix .. 'paused', name) -- first: a full Redis accepts the writes after a removal
      if not isLast then redis.call('HSET', prefix .. 'paused', name, '>' .. (last == from and '(' .. last or last)) end
      if missing[1] then redis.call('ZADD', queue, 'NX', unpack(missing)) end
      isAny = isAny or missing[1] ~= nil
      if not isLast then left = 0 end
    end
  end
  if isAny then wakeAll(base, space) end
  return left <= 0
end
