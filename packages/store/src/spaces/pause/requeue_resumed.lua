-- KEYS pauses
-- ARGV base limit
-- REPLY OK isMore:number
--
-- Do one step for the space of this partition that has waited the longest for one. First put the jobs of resumed names
-- back into its queue; once they are, take jobs of paused names out of the head of its queue, so that they hide no
-- others. They stay in the queue of their name. Any process may do any step, and do it again.
--   limit    jobs to look at, which bounds the step
--   isMore   1 when a step is due again
local nowMs = now()
local space = redis.call('ZRANGEBYSCORE', pauses, '-inf', formatInteger(nowMs), 'LIMIT', 0, 1)[1]
if not space then return { 'OK', 0 } end
redis.call('ZREM', pauses, space) -- first, see replaceEntry

-- Take jobs of paused names out of the head of the queue. Return whether there may be more of them at the head.
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
-- Nothing is taken out of the queue of a space that is paused itself, because no poll looks at it.
if not isMore and names and not names[''] then isMore = takeOut(prefix, names) end

local fields, hasNames = redis.call('HKEYS', prefix .. 'paused'), false
for _, name in ipairs(fields) do hasNames = hasNames or name ~= '' end
-- New jobs of a paused name stand in the space's queue first. A look at its head each second finds them.
if hasNames then redis.call('ZADD', pauses, formatInteger(isMore and nowMs or nowMs + 1000), space) end
return { 'OK', isMore and 1 or 0 }
