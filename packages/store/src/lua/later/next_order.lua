-- Return the next order score of a space, see nextOrder of scripts for one job.
local function nextOrder(base, space, moment)
  local spaces = base .. 'spaces'
  if not later.order then later.order = redis.direct('ZSCORE', spaces, space) or '0' end
  later.order = formatInteger(math.max(later.order + 1, moment))
  redis.call('ZADD', spaces, later.order, space)
  return later.order
end
