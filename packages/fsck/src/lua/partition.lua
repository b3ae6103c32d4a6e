-- Return the exclusive or of two numbers below 64. It does not use bit.bxor, which Lua 5.3 (ioredis-mock) does not
-- have.
local function xor(a, b)
  local sum = 0
  for bit = 0, 5 do
    if a % 2 ~= b % 2 then sum = sum + 2 ^ bit end
    a, b = math.floor(a / 2), math.floor(b / 2)
  end
  return sum
end

local known = {}

-- Return the two characters that name the partition of a space, as partitionOf in the store does. There are 64
-- partitions, so the last six bits of its hash are enough. With 64 as the modulus, they follow from the last six bits
-- of all inputs. Most jobs that are checked together are of one space, for which it is computed once.
local function partitionOf(space)
  if not known[space] then
    local hash = 0x811c9dc5 % 64
    for i = 1, #space do hash = xor(hash, string.byte(space, i) % 64) * (0x01000193 % 64) % 64 end
    known[space] = string.format('%02x', hash)
  end
  return known[space]
end

-- Check whether a text can be the id of a space whose jobs are in this partition.
local function isSpaceOf(base, space)
  return #space <= 128 and string.find(space, '^[%w%._:%-]+$') ~= nil and string.sub(base, -5) == '{' .. partitionOf(space) .. '}:'
end
