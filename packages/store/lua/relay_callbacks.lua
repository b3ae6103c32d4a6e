-- KEYS callbacks
-- ARGV base limit againMs atMostMs
--
-- List the callbacks of one partition that are owed now, oldest first, and put off the next look at each of them: by
-- `againMs`, or by as long as it has been due, but at most by `atMostMs`. Meanwhile it is in somebody's hands; should
-- those lose it, it is looked at again after twice the time.
--   limit    at most 100
-- Returns {'OK', entries looked at, {id, round, …}}.
-- @include clock
local now = nowMs()
local due = redis.call('ZRANGEBYSCORE', callbacks, '-inf', digits(now), 'LIMIT', 0, limit)
local owed = {}
for _, id in ipairs(due) do
  local v = redis.call('HMGET', base .. 'job:' .. id, 'updatedAt', 'callbackDueAt', 'callbackRound')
  -- A full Redis lets the rest of a script pass once something was removed.
  redis.call('ZREM', callbacks, id)
  if type(v[1]) == 'string' then -- else the record is gone, and the debt with it
    local waited = now - tonumber(type(v[2]) == 'string' and v[2] or v[1])
    local again = math.min(math.max(waited, tonumber(againMs)), tonumber(atMostMs))
    redis.call('ZADD', callbacks, digits(now + again), id)
    owed[#owed + 1] = id
    owed[#owed + 1] = type(v[3]) == 'string' and v[3] or '0'
  end
end
return { 'OK', #due, { unpack(owed) } } -- a constructor, see list.lua
