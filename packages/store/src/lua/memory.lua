-- Whether memory is full, once it is known.
local knownFull

-- Check whether memory is full. It must be called before the first write of a script: Redis refuses that one then, and no
-- later one.
local function isMemoryFull(base)
  if knownFull == nil then
    local reply = redis.pcall('RPUSHX', base .. 'none', '') -- a key that does not exist
    knownFull = type(reply) == 'table' and reply.err ~= nil
  end
  return knownFull
end
