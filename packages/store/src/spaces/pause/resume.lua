-- KEYS paused
-- ARGV base space limit names...
-- REPLY OK isAny:number
--
-- Resume some names, or everything in a space. The first of their jobs return to the space's queue now, the others with the next
-- sweeps. This works on a full Redis.
--   paused   the space's /paused; see lua/waiting/paused.lua
--   limit    maximum number of jobs to examine
--   names    none to resume everything
--   isAny    1 if anything was paused
local fields, isMeant = redis.call('HGETALL', paused), {}
for _, name in ipairs(names) do isMeant[name] = true end
local isAny = false
for i = 1, #fields, 2 do
  local name = fields[i]
  if fields[i + 1] == '1' and (#names == 0 or isMeant[name]) then
    isAny = true
    redis.call('HDEL', paused, name) -- first: a full Redis accepts the writes after a removal
    if name ~= '' then redis.call('HSET', paused, name, '>-inf') end
  end
end
if isAny then
  putBack(base, space, limit)
  if redis.call('EXISTS', paused) == 1 then replaceEntry(base .. 'pauses', space, formatInteger(now())) end
  wakeAll(base, space)
end
return { 'OK', isAny and 1 or 0 }
