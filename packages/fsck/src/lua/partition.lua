local known = {}

-- Return the two characters that name the partition of a space, as partitionOf in the store does. There are 64
-- partitions, so the last six bits of its hash are enough. With 64 as the modulus, they follow from the last six bits
-- of all inputs. Most jobs that are checked together are of one space, for which it is computed once.
local function partitionOf(space)
  if not known[space] then
    local hash = 0x811c9dc5 % 64
    for i = 1, #space do hash = bit.bxor(hash, string.byte(space, i) % 64) * (0x01000193 % 64) % 64 end
    known[space] = string.format('%02x', hash)
  end
  return known[space]
end

-- Check whether a text can be the id of a space whose jobs are in this partition.
local function isSpaceOf(base, space)
  return #space <= 128 and string.find(space, '^[%w%._:%-]+$') ~= nil and string.sub(base, -5) == '{' .. partitionOf(space) .. '}:'
end
