-- KEYS schedules
-- ARGV base space needsMemory items...
-- REPLY OK
-- REPLY OVERTAKEN
-- ERRORS TOO_MANY_SCHEDULES STORAGE_FULL
-- REPLICATED
--
-- Create, change and delete schedules of a space, all or none: another call may have changed one of them in the meantime.
--   schedules     see keys.ts
--   needsMemory   '1' if a full Redis must refuse the call; '' if it must not
--   items         for each schedule, in one text, because Lua can unpack only 8,000:
--     `<id> <before> <version> <nextAt> <dueAt> <createdAt> <definition>`, with `-` for none
--     before       its version before the change; none for a new one
--     version      its new version; none to delete it
--     nextAt       field of its record
--     dueAt        when the next time fires, epoch ms
--     createdAt    epoch ms
local prefix, changes, created = base .. 'schedule:' .. space .. '/', {}, 0
for i, item in ipairs(items) do
  changes[i] = { string.match(item, '^(%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (.*)$') }
  local id, before, version = unpack(changes[i])
  if (redis.call('HGET', prefix .. id, 'version') or '-') ~= before then return { 'OVERTAKEN' } end
  if before == '-' then created = created + 1 end
  if version == '-' then created = created - 1 end
end
local list = base .. 'space:' .. space .. '/schedules'
if created > 0 and redis.call('ZCARD', list) + created > SCHEDULES_PER_SPACE then return { 'TOO_MANY_SCHEDULES' } end
if needsMemory ~= '' and isMemoryFull(base) then return { 'STORAGE_FULL' } end

local last = tonumber(redis.call('ZRANGE', list, -1, -1, 'WITHSCORES')[2] or 0)
for _, change in ipairs(changes) do
  local id, before, version, nextAt, dueAt, createdAt, definition = unpack(change)
  local key, member = prefix .. id, space .. '/' .. id
  redis.call('ZREM', schedules, member) -- A full Redis accepts the writes after a removal.
  if version == '-' then
    redis.call('UNLINK', key)
    redis.call('ZREM', list, id)
  else
    redis.call('HSET', key, 'version', version, 'definition', definition, 'nextAt', nextAt)
    if nextAt == '-' then redis.call('HDEL', key, 'nextAt') end
    if dueAt ~= '-' then redis.call('ZADD', schedules, dueAt, member) end
  end
  if before == '-' then
    last = math.max(last + 1, createdAt * 1024)
    redis.call('HSET', key, 'createdAt', createdAt)
    redis.call('ZADD', list, formatInteger(last), id)
  end
end
return { 'OK' }
