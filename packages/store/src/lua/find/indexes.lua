-- Return indexes of a space that contain every job that can pass a filter, and as few others as possible. Their scores are
-- creation orders. No job is in two of them.
--   prefix     prefix of the keys of the space
--   statuses   statuses of which a job must have one, separated by blanks; '' for any
--   tags       tags of which a job must have all, separated by newlines; '' for any
local function indexesFor(prefix, statuses, tags)
  local best, fewest = {}, 0
  for status in string.gmatch(statuses, '%S+') do best[#best + 1] = prefix .. 'status/' .. status end
  if not best[1] then best[1] = prefix .. 'jobs' end
  if tags == '' then return best end
  for _, index in ipairs(best) do fewest = fewest + redis.call('ZCARD', index) end
  for tag in string.gmatch(tags, '[^\n]+') do
    local size = redis.call('ZCARD', prefix .. 'tag/' .. tag)
    if size < fewest then best, fewest = { prefix .. 'tag/' .. tag }, size end
  end
  return best
end

-- Read the first job IDs of some indexes within bounds. Return a function from n to the creation order of the n-th ID, and the
-- IDs. A single index is read without scores, because Redis formats each one.
--   order      `asc` or `desc`
--   min, max   bounds as ZRANGEBYSCORE takes them
--   most       maximum number of IDs
local function entriesOf(indexes, order, min, max, most)
  local isDescending = order == 'desc'
  local function read(index, ...)
    if isDescending then return redis.call('ZREVRANGEBYSCORE', index, max, min, 'LIMIT', 0, most, ...) end
    return redis.call('ZRANGEBYSCORE', index, min, max, 'LIMIT', 0, most, ...)
  end
  if not indexes[2] then
    local ids = read(indexes[1])
    return function(n) return redis.call('ZSCORE', indexes[1], ids[n]) end, ids
  end
  local lists, at, heads, ids, places = {}, {}, {}, {}, {}
  for i, index in ipairs(indexes) do
    lists[i] = read(index, 'WITHSCORES')
    at[i], heads[i] = 1, tonumber(lists[i][2] or '')
  end
  while #ids < most do
    local first
    for i = 1, #lists do
      if heads[i] and (not first or isDescending == (heads[i] > heads[first])) then first = i end
    end
    if not first then break end
    local list, i, n = lists[first], at[first], #ids + 1
    ids[n], places[n] = list[i], list[i + 1]
    at[first], heads[first] = i + 2, tonumber(list[i + 3] or '')
  end
  return function(n) return places[n] end, ids
end
