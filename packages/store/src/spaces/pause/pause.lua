-- KEYS paused
-- ARGV base space most names...
-- REPLY OK changed:number
-- REPLY TOO_MANY
--
-- Pause some names, or a whole space: their jobs can no longer be claimed. This works on a full Redis.
--   paused   the space's /paused; see lua/waiting/paused.lua
--   most     maximum number of paused names
--   names    '' for the whole space
--   changed  number of names that were not paused before
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
  redis.call('HDEL', paused, name) -- first: a full Redis accepts the writes after a removal
  redis.call('HSET', paused, name, '1')
  if known[name] ~= '1' then changed = changed + 1 end
end
if count > 0 then replaceEntry(base .. 'pauses', space, formatInteger(now())) end
return { 'OK', changed }
