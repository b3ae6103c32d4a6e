-- Write what is left.
local function writeLater()
  writeSets(redis.direct)
  for key, counts in pairs(later.counts) do
    for member, count in pairs(counts) do redis.direct('ZINCRBY', key, count, member) end
  end
end
