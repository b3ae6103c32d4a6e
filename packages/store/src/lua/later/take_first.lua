-- Remove the oldest entry of a queue and return it; nil when it is empty. Entries are read in portions of up to `wanted`,
-- and their removal is written later, so that a failure between two jobs leaves the others in the queue.
local function takeFirst(queue, wanted)
  if wanted == 1 then return redis.call('ZPOPMIN', queue)[1] end
  local heads = later.heads
  if not heads or heads.at > #heads then
    heads = redis.call('ZRANGE', queue, 0, wanted - 1)
    heads.at = 1
    later.heads = heads
  end
  local id = heads[heads.at]
  heads.at = heads.at + 1
  if id then redis.call('ZREM', queue, id) end
  return id
end
