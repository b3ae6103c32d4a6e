-- KEYS paused
-- ARGV base space most names...
-- REPLY OK changed:number
-- REPLY TOO_MANY
--
-- Pause jobs of some names, or a whole space: from now on no job of these is claimed. It works on a full Redis.
--   paused   the space's /paused, see lua/waiting/paused.lua
--   most     names that may be paused
--   names    '' for the whole space
--   changed  how many of them were not paused before
local fields, known = redis.call('HGETALL', paused), {}
local count, changed = 0, 0
for i = 1, #fields, 2 do
  known[fields[i]] = fields[i + 1]
  if fields[i] ~= '' then count = count + 1 end
end
for _, name in ipairs(names) do
  if name ~= '' and not known[name] then count = count + 1 end
end
if count > tonumber(most) then return { 'TOO_MANY' } end

for _, name in ipairs(names) do
  redis.call('HDEL', paused, name) -- first: a full Redis lets the rest pass once something was removed
  redis.call('HSET', paused, name, '1')
  if known[name] ~= '1' then changed = changed + 1 end
end
if count > 0 then replaceEntry(base .. 'pauses', space, formatInteger(now())) end
return { 'OK', changed }
