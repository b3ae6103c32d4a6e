-- KEYS paused
-- ARGV base space limit names...
-- REPLY OK isAny:number
--
-- End the pause of jobs of some names, or all pauses of a space. Their first jobs are put back into the space's queue at
-- once, the others by the sweep. It works on a full Redis.
--   paused   the space's /paused, see lua/waiting/paused.lua
--   limit    jobs to look at, which bounds the step
--   names    none for all of it
--   isAny    1 when something was paused
local fields, isMeant = redis.call('HGETALL', paused), {}
for _, name in ipairs(names) do isMeant[name] = true end
local isAny = false
for i = 1, #fields, 2 do
  local name = fields[i]
  if fields[i + 1] == '1' and (#names == 0 or isMeant[name]) then
    isAny = true
    redis.call('HDEL', paused, name) -- first: a full Redis lets the rest pass once something was removed
    if name ~= '' then redis.call('HSET', paused, name, '>-inf') end
  end
end
if isAny then
  putBack(base, space, limit)
  if redis.call('EXISTS', paused) == 1 then replaceEntry(base .. 'pauses', space, formatInteger(now())) end
  wakeAll(base, space)
end
return { 'OK', isAny and 1 or 0 }
