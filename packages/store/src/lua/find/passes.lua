-- Create a function that reads a record and checks it against the parts of a filter that the indexes may not have covered. It
-- reads small fields only. An entry whose record is gone does not pass.
--   statuses   separated by blanks; '' for any
--   tags       separated by newlines; '' for any
--   names      list; empty for any
local function filterBy(statuses, tags, names)
  local isByIndex, hasStatus, hasName = tags == '' and not names[1], {}, {}
  for status in string.gmatch(statuses, '%S+') do hasStatus[status] = true end
  for _, name in ipairs(names) do hasName[name] = true end
  return function(key)
    if isByIndex then return true end
    local v = redis.call('HMGET', key, 'state', 'tags')
    local status, _, name = string.match(v[1] or '', '^%l+'), spaceAndName(v[1])
    if not status then return false end
    return (not names[1] or hasName[name]) and (statuses == '' or hasStatus[status]) and hasTags(v[2], tags)
  end
end
