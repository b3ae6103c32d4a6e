-- The two characters that name the partition of a space, as partitionOf in the store has it. There are 64 partitions, so
-- the last six bits of its hash are enough, and with 64 as the modulus they follow from the last six bits of all else.
local function partitionOf(space)
  local hash = 0x811c9dc5 % 64
  for i = 1, #space do hash = bit.bxor(hash, string.byte(space, i) % 64) * (0x01000193 % 64) % 64 end
  return string.format('%02x', hash)
end

-- Whether a text can be the id of a space whose jobs are in this partition.
local function isSpaceOf(base, space)
  return #space <= 128 and string.find(space, '^[%w%._:%-]+$') ~= nil and string.sub(base, -5) == '{' .. partitionOf(space) .. '}:'
end
