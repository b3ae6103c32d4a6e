-- Next order score of a space, as text: strictly above the last one and not below the clock, so that jobs of one moment,
-- and jobs made after the clock stepped back, still stand in the order they came.
-- Its whole part over 1024 is the time in milliseconds. 2^53 is reached in the year 2248.
--   moment   the least that it may be: ms * 1024, and more for what is later within the millisecond
local function nextOrder(base, space, moment)
  local spaces, order = base .. 'spaces', digits(moment)
  if redis.pcall('ZADD', spaces, 'CH', 'GT', order, space) == 1 then return order end
  -- The last one is not below; or Redis is full, and refuses the ZADD below as well; or this is ioredis-mock, without GT.
  local last = tonumber(redis.call('ZSCORE', spaces, space) or 0)
  order = digits(math.max(last + 1, moment))
  redis.call('ZADD', spaces, order, space)
  return order
end
