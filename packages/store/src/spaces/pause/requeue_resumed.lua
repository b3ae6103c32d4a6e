-- KEYS pauses
-- ARGV base limit
-- REPLY OK isMore:number
--
-- Maintain the queue of the space of this partition that has waited longest for it. First put the jobs of resumed names back in
-- the queue. Then take the jobs of paused names off its head, so that they hide no others; they stay in the queue of their name.
-- Any process can do any step, even twice.
--   limit    maximum number of jobs to examine
--   isMore   1 if another step is due
local nowMs = now()
local space = redis.call('ZRANGEBYSCORE', pauses, '-inf', formatInteger(nowMs), 'LIMIT', 0, 1)[1]
if not space then return { 'OK', 0 } end
redis.call('ZREM', pauses, space) -- first; see replaceEntry

-- Take jobs of paused names off the head of the queue. Return whether more may follow.
local function takeOut(prefix, names)
  local out, ids = {}, redis.call('ZRANGE', prefix .. 'queue', 0, limit - 1)
  for _, id in ipairs(ids) do
    local _, name = spaceAndName(redis.call('HGET', base .. 'job:' .. id, 'state'))
    if name and names[name] then out[#out + 1] = id end
  end
  if out[1] then redis.call('ZREM', prefix .. 'queue', unpack(out)) end
  return #out == tonumber(limit)
end

local prefix = base .. 'space:' .. space .. '/'
local isMore = putBack(base, space, limit)
local names = pausedNames(prefix)
-- Skip a paused space, because no poll reads its queue.
if not isMore and names and not names[''] then isMore = takeOut(prefix, names) end

local fields, hasNames = redis.call('HKEYS', prefix .. 'paused'), false
for _, name in ipairs(fields) do hasNames = hasNames or name ~= '' end
-- New jobs of a paused name enter the space's queue first. A check of its head every second finds them.
if hasNames then redis.call('ZADD', pauses, formatInteger(isMore and nowMs or nowMs + 1000), space) end
return { 'OK', isMore and 1 or 0 }
