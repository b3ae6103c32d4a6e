-- KEYS sums
-- ARGV base isRepairing space
-- REPLY OK found[]
--
-- Check that the bytes of a space are counted if and only if its settings have maxBytes.
--   sums          the space's /bytes; see lua/bytes of the store
--   isRepairing   '1' to repair, '0' to write nothing
--   found         kind, key, detail, outcome, …; see findings
local found, most = findings(), maxBytesIn(settingsText(base, space))
if not most and redis.call('EXISTS', sums) == 1 then
  find(found, 'orphaned', sums, space .. ' has no maxBytes', found.removals, function() applyMaxBytes(base, space, '') end)
elseif most and (redis.call('HGET', sums, 'most') ~= most or not scoreIn(base .. 'recounts', space)) then
  find(found, 'recount_forgotten', base .. 'recounts', space .. ' has maxBytes', found.additions, function()
    redis.call('ZREM', base .. 'recounts', space) -- A full Redis accepts the writes after a removal.
    applyMaxBytes(base, space, most)
  end)
end
if isRepairing == '1' then repairAll(found) end
return { 'OK', found.flat }
