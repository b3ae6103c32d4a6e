-- KEYS schedules
-- ARGV base limit budget dueBefore
-- REPLY OK at:number isMore:number rows[][]
--
-- Read the schedules of a partition that are due, earliest first.
--   limit, budget   stop after this number of schedules, or of bytes of records, exceeded by at most one record
--   dueBefore       see expire.lua
--   at              time before which they are due, epoch ms
--   isMore          1 if more are due
--   rows            for each: its space, its ID, when it was due, the settings of its space (see storedSettings), and its record (name,
--                   value, …), which is empty if it is gone
local before = formatInteger(math.min(now(), tonumber(dueBefore)))
local due = redis.call('ZRANGEBYSCORE', schedules, '-inf', before, 'WITHSCORES', 'LIMIT', 0, limit + 1)
local rows, bytes = {}, 0
for i = 1, math.min(#due, 2 * limit), 2 do
  if bytes > tonumber(budget) then break end
  local space, id = string.match(due[i], '^(.-)/(.*)$')
  local record = redis.call('HGETALL', base .. 'schedule:' .. due[i])
  for _, value in ipairs(record) do bytes = bytes + #value end
  rows[#rows + 1] = { space, id, due[i + 1], settingsText(base, space) or '', unpack(record) }
end
return { 'OK', before, #due > 2 * #rows and 1 or 0, rows }
