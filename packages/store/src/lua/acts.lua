-- Return the owner of an act of the audit, by its fields in a flat list: its space, '' for an act in none, and '!', which is no
-- space, for refused access. Anybody may cause any number of these, even without a key.
local function ownerOfAct(fields)
  local owner = ''
  for i = 1, #fields, 2 do
    if fields[i] == 'action' and fields[i + 1] == 'access.denied' then return '!' end
    if fields[i] == 'spaceId' then owner = fields[i + 1] end
  end
  return owner
end

-- Store how many acts of an owner a stream has.
local function countActs(audit, owner)
  local number = redis.call('ZCARD', audit .. '/of/' .. owner)
  redis.call('ZREM', audit .. '/owners', owner) -- first: a full Redis lets the rest pass once something was removed
  if number > 0 then redis.call('ZADD', audit .. '/owners', number, owner) end
end

-- Add an act of a stream to those of its owner.
local function enterAct(audit, owner, id)
  redis.call('ZADD', audit .. '/of/' .. owner, string.match(id, '^%d+'), id)
  countActs(audit, owner)
end

-- Remove an act from those of its owner.
local function removeAct(audit, owner, id)
  redis.call('ZREM', audit .. '/of/' .. owner, id)
  countActs(audit, owner)
end
