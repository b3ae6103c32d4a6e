-- What a script for several jobs has read, or has still to write, once for all jobs or for a run of consecutive ones. nil in
-- a script for one job. A script for several jobs starts with beginBatch and ends with endBatch. Fields:
--   space, order, isOrderNew, base    the last order that was given in a space, and whether `spaces` does not have it yet
--   names, name, count                number of new jobs of a name of a space
--   unheard                           a channel without subscribers
--   prefix, isAnythingPaused          of a space
--   queue, heads, next                the oldest entries of a queue, and the first of them that is not taken
--   numbers, texts                    numbers by their texts, and texts by their numbers, see numberOf and formatInteger
local batch

--   isOfOne   whether its jobs are likely to be of one space; otherwise each set is written at once, which costs less then
local function beginBatch(isOfOne)
  batch = { numbers = {}, texts = {} }
  if isOfOne then collectSets() end
end

-- Store the last order.
local function storeOrder()
  if batch.isOrderNew then redis.call('ZADD', batch.base .. 'spaces', formatInteger(batch.order), batch.space) end
  batch.isOrderNew = false
end

-- Store the number of jobs.
local function storeCount()
  if batch.name then redis.call('ZINCRBY', batch.names, batch.count, batch.name) end
  batch.name = nil
end

-- Write what is left. A set that is damaged must not stop the others.
-- @throws the first error
local function endBatch()
  local failure
  for set in pairs(collected or {}) do
    local ok, message = pcall(written, set)
    failure = failure or not ok and message
  end
  storeOrder()
  storeCount()
  if failure then error(failure) end
end
