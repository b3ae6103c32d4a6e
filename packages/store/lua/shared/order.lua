-- Next order score of a space: strictly above the last one and not below the clock, so that jobs of one
-- millisecond, and jobs made after the clock stepped back, still stand in the order they came.
-- Its whole part over 1024 is the time in milliseconds. 2^53 is reached in the year 2248.
local function nextOrder(base, space, moment)
  local last = tonumber(redis.call('ZSCORE', base .. 'spaces', space) or 0)
  local order = digits(math.max(last + 1, moment))
  redis.call('ZADD', base .. 'spaces', order, space)
  return order
end
