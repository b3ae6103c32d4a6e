-- KEYS callbacks
-- ARGV base limit againMs atMostMs
--
-- List the callbacks of one partition that are due now, oldest first, and postpone the next look at each of them: by
-- `againMs`, or by as long as it has been due, but at most by `atMostMs`. Meanwhile a scheduler has the callback. If
-- that scheduler loses it, it is looked at again after twice the time.
--   limit    at most 100
-- Returns {'OK', entries looked at, {id, round, ms for which it has been due, …}}.
-- @include clock job callback
local now, at = nowMs()
local due = redis.call('ZRANGEBYSCORE', callbacks, '-inf', at, 'LIMIT', 0, limit)
local owed = {}
for _, id in ipairs(due) do
  local found = loadJob(base .. 'job:' .. id, base, id)
  local callback = loadCallback(found)
  if callback then
    -- The first attempt is due from the end of the job on.
    local since = callback.due > 0 and callback.due or tonumber(redis.call('HGET', found.key, 'updatedAt'))
    local waited = now - since
    putOff(found, now + math.min(math.max(waited, tonumber(againMs)), tonumber(atMostMs)))
    owed[#owed + 1] = id
    owed[#owed + 1] = digits(callback.round)
    owed[#owed + 1] = digits(waited)
  else
    redis.call('ZREM', callbacks, id) -- the record is gone, or never owed anything
  end
end
return { 'OK', #due, { unpack(owed) } } -- a constructor, see list.lua
