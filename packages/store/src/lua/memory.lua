-- Whether memory is full; nil until a script has checked.
local knownFull

-- Check whether memory is full. Call it before the first write of a script: that is the only write that a full Redis refuses.
local function isMemoryFull(base)
  if knownFull == nil then
    local reply = redis.pcall('RPUSHX', base .. 'none', '') -- a key that does not exist
    knownFull = type(reply) == 'table' and reply.err ~= nil
  end
  return knownFull
end
