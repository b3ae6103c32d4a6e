-- Reads and pending writes shared by all verbs of a group, or by a run of consecutive ones. nil in the script of a single verb.
-- A group starts with beginBatch and ends with endBatch. Fields:
--   space, order, isOrderNew, base    last order assigned in a space, and whether it still has to be written to `spaces`
--   names, name, count                number of new jobs with one name in one space, not written yet
--   unheard                           a channel without subscribers
--   prefix, isAnythingPaused          whether anything may be paused in one space
--   queue, heads, next                oldest entries of a queue, and the position of the first that is not taken
--   numbers, texts                    numbers by text and texts by number; see numberOf and formatInteger
local batch

-- Start a group.
--   isOfOne   whether its jobs probably belong to one space; otherwise each write to a set is immediate, which then costs less
local function beginBatch(isOfOne)
  batch = { numbers = {}, texts = {} }
  if isOfOne then collectSets() end
end

-- Write the last order.
local function storeOrder()
  if batch.isOrderNew then redis.call('ZADD', batch.base .. 'spaces', formatInteger(batch.order), batch.space) end
  batch.isOrderNew = false
end

-- Write the number of new jobs.
local function storeCount()
  if batch.name then redis.call('ZINCRBY', batch.names, batch.count, batch.name) end
  batch.name = nil
end

-- Write everything pending. A damaged set must not stop the others.
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
