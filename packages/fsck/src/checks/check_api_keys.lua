-- KEYS records index children revoking
-- ARGV isRepairing apiKeys...
-- REPLY OK found[]
--
-- Check that API keys are in the indexes implied by their records. A key whose maker is gone is nobody's child.
--   isRepairing   '1' to add missing entries, '0' to write nothing
--   apiKeys       for each key: ID, space (empty for every space) and maker (empty for none). A key that is gone is skipped
--   found         kind, key, detail, outcome, …; see findings
local found = findings()

local function expect(entries, entry, id)
  if redis.call('ZSCORE', entries, entry) then return end
  find(found, 'api_key_unlisted', entries, 'key ' .. id .. ' should be listed as ' .. entry, found.additions, function()
    redis.call('ZREM', entries, entry) -- A full Redis accepts the writes after a removal.
    redis.call('ZADD', entries, 0, entry)
  end)
end

for i = 1, #apiKeys, 3 do
  local id, space, maker = apiKeys[i], apiKeys[i + 1], apiKeys[i + 2]
  if redis.call('HEXISTS', records, id) == 1 then
    expect(index, '/' .. id, id)
    if space ~= '' then expect(index, space .. '/' .. id, id) end
    if redis.call('HEXISTS', records, maker) == 1 or redis.call('SISMEMBER', revoking, maker) == 1 then
      expect(children, maker .. '/' .. id .. '/' .. space, id)
    end
  end
end
if isRepairing == '1' then repairAll(found) end
return { 'OK', found.flat }
