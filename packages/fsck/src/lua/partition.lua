local known = {}

-- Return the tag of a space's partition, like partitionOf in the store. There are 64 partitions, so the last six bits of the hash
-- are enough, and these depend only on the last six bits of all inputs. The result is cached, because most jobs checked together
-- belong to one space.
local function partitionOf(space)
  if not known[space] then
    local hash = 0x811c9dc5 % 64
    for i = 1, #space do hash = bit.bxor(hash, string.byte(space, i) % 64) * (0x01000193 % 64) % 64 end
    known[space] = string.format('%02x', hash)
  end
  return known[space]
end

-- Check whether a text can be the ID of a space in this partition.
local function isSpaceOf(base, space)
  return #space <= 128 and string.find(space, '^[%w%._:%-]+$') ~= nil and string.sub(base, -5) == '{' .. partitionOf(space) .. '}:'
end
