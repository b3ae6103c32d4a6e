-- Return indexes of a space that have every job that can pass a filter, and as few others as possible. Their scores are
-- places by creation. No job is in two of them.
--   prefix     of the keys of the space
--   statuses   of which a job has one, with blanks in between; '' for any
--   tags       of which a job has all, with a newline in between; '' for any
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

-- Return the first entries of some indexes within bounds, as one list of ids and scores in turn.
--   order      `asc` or `desc`
--   min, max   scores as ZRANGEBYSCORE takes them
--   most       how many entries
local function entriesOf(indexes, order, min, max, most)
  local isDescending, lists, at, heads, merged = order == 'desc', {}, {}, {}, {}
  for i, index in ipairs(indexes) do
    if isDescending then lists[i] = redis.call('ZREVRANGEBYSCORE', index, max, min, 'WITHSCORES', 'LIMIT', 0, most)
    else lists[i] = redis.call('ZRANGEBYSCORE', index, min, max, 'WITHSCORES', 'LIMIT', 0, most) end
    at[i], heads[i] = 1, tonumber(lists[i][2] or '')
  end
  if not lists[2] then return lists[1] end
  while #merged < 2 * most do
    local first
    for i = 1, #lists do
      if heads[i] and (not first or isDescending == (heads[i] > heads[first])) then first = i end
    end
    if not first then break end
    local list, i = lists[first], at[first]
    merged[#merged + 1], merged[#merged + 2] = list[i], list[i + 1]
    at[first], heads[first] = i + 2, tonumber(list[i + 3] or '')
  end
  return merged
end
