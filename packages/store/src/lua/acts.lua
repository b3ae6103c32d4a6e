-- Return the owner of an audit entry, from its fields (name, value, …): its space; '' for an act outside of any space; or '!',
-- which cannot be a space ID, for refused access. Anybody can cause any number of these, even without a key.
local function ownerOfAct(fields)
  local owner = ''
  for i = 1, #fields, 2 do
    if fields[i] == 'action' and fields[i + 1] == 'access.denied' then return '!' end
    if fields[i] == 'spaceId' then owner = fields[i + 1] end
  end
  return owner
end

-- Store how many acts an owner has in a stream.
local function countActs(audit, owner)
  local number = redis.call('ZCARD', audit .. '/of/' .. owner)
  redis.call('ZREM', audit .. '/owners', owner) -- first: a full Redis accepts the writes after a removal
  if number > 0 then redis.call('ZADD', audit .. '/owners', number, owner) end
end

-- Add an act to the index of its owner.
local function enterAct(audit, owner, id)
  redis.call('ZADD', audit .. '/of/' .. owner, string.match(id, '^%d+'), id)
  countActs(audit, owner)
end

-- Remove an act from the index of its owner.
local function removeAct(audit, owner, id)
  redis.call('ZREM', audit .. '/of/' .. owner, id)
  countActs(audit, owner)
end
