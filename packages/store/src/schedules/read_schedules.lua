-- KEYS list
-- ARGV base space id most after budget
-- REPLY OK at:number isMore:number rows[][]
--
-- Read a schedule, or the next schedules of a space by creation.
--   list    the space's /schedules
--   id      '' for the next ones
--   most, budget   stop after this number of schedules, or of bytes of records, exceeded by at most one record
--   after   place after which to start, '-inf' for the first
--   at      current time, epoch ms
--   isMore  1 if more follow
--   rows    for each: its space, its ID, its place in the list, the settings of the space (see storedSettings), and its record (name,
--           value, …), which is empty for an unknown ID
local found, rows, bytes = { id, '' }, {}, 0
if id == '' then
  found = redis.call('ZRANGEBYSCORE', list, '(' .. after, '+inf', 'WITHSCORES', 'LIMIT', 0, most + 1)
end
for i = 1, math.min(#found, 2 * most), 2 do
  if bytes > tonumber(budget) then break end
  local record = redis.call('HGETALL', base .. 'schedule:' .. space .. '/' .. found[i])
  for _, value in ipairs(record) do bytes = bytes + #value end
  rows[#rows + 1] = { space, found[i], found[i + 1], settingsText(base, space) or '', unpack(record) }
end
return { 'OK', formatInteger(now()), #found > 2 * #rows and 1 or 0, rows }
