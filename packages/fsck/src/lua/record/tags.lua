-- Check that a field contains valid tags: up to 10 different texts without control characters, and then perhaps the label of a
-- schedule; see jobs/labels.ts of the store.
local function areTags(tags)
  local own, scheduleId = string.match('\n' .. tags, '^(.*)\n\1([%w%._:%-]+)$')
  if scheduleId and #scheduleId > 128 then return false end
  if own == '' then return true end
  local count, seen = 0, {}
  for tag in string.gmatch((own and string.sub(own, 2) or tags) .. '\n', '([^\n]*)\n') do
    if tag == '' or seen[tag] or string.find(tag, '[%z\1-\31\127]') then return false end
    count, seen[tag] = count + 1, true
  end
  return count <= 10
end

-- Check whether valid tags contain the label of a schedule.
local function hasLabel(tags)
  return string.find(tags or '', '\1', 1, true) ~= nil
end
