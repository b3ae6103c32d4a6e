-- KEYS index
-- ARGV base afterOrder limit deliveryTimeoutMs
--
-- After Redis' clock has stepped back: give one more window, from now on, to jobs whose last sign of life is in the future.
-- They would else wait for as long as the step was.
--   index        a space's /status/delivered or /status/running
--   afterOrder   that of the last job looked at; '-inf' to begin
--   limit        jobs at most; at most 100
-- Returns {'OK', jobs looked at, order of the last of them, jobs that were given a window}.
-- @include clock job reopen_window
local now = nowMs()

local function bringBack(id)
  local found, deliveredAt = loadJob(base .. 'job:' .. id, base, id, 'deliveredAt')
  if found.status ~= 'delivered' and found.status ~= 'running' then return 0 end -- A stray entry.
  local windowMs = windowOf(found, deliveryTimeoutMs)
  local due = tonumber(stored(redis.call('ZSCORE', base .. 'deadlines', id)) or 0)
  if due <= now + windowMs then return 0 end
  -- It may have been delivered when DELIVERY_TIMEOUT_SECONDS was longer.
  if found.status == 'delivered' and tonumber(deliveredAt) <= now then return 0 end
  reopenWindow(found, now, windowMs)
  return 1
end

local page = redis.call('ZRANGEBYSCORE', index, '(' .. afterOrder, '+inf', 'WITHSCORES', 'LIMIT', 0, limit)
local broughtBack = 0
for i = 1, #page, 2 do
  local ok, count = pcall(bringBack, page[i]) -- Not of a record that is not what we write: fsck names it.
  if ok then broughtBack = broughtBack + count end
end
return { 'OK', #page / 2, page[#page] or afterOrder, broughtBack }
