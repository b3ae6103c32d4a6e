-- Check that a field contains valid tags: 1 to 10 different texts without control characters.
local function areTags(tags)
  local count, seen = 0, {}
  for tag in string.gmatch(tags .. '\n', '([^\n]*)\n') do
    if tag == '' or seen[tag] or string.find(tag, '[%z\1-\31\127]') then return false end
    count, seen[tag] = count + 1, true
  end
  return count <= 10
end
