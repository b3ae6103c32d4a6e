-- KEYS names
-- ARGV base space isRepairing afterOrder counted counts...
-- REPLY OK wrong[]
-- REPLY CHANGED
--
-- Compare counts of names with those that are kept, as of one moment.
--   names                 the space's /names
--   space                 its id
--   isRepairing           '1' to keep the right counts; '0' writes nothing
--   afterOrder, counted   order of the last job that was counted, and how many were
--   counts                name, its count, …; at most 50 of them
--   wrong                 name, count kept, right count, outcome, …; see findings for the outcome
-- CHANGED when a job that was counted is gone, or many were created since.
local jobs = base .. 'space:' .. space .. '/jobs'
-- Jobs are added at the end and removed anywhere: when as many exist as were counted and added since, none was removed.
local since = redis.call('ZRANGEBYSCORE', jobs, '(' .. afterOrder, '+inf', 'LIMIT', 0, 101)
if #since > 100 or redis.call('ZCARD', jobs) ~= tonumber(counted) + #since then return { 'CHANGED' } end
local more = {}
for _, id in ipairs(since) do
  local _, name = spaceAndName(redis.call('HGET', base .. 'job:' .. id, 'state'))
  name = name or ''
  more[name] = (more[name] or 0) + 1
end

local wrong = {}
for i = 1, #counts, 2 do
  local name, right = counts[i], tonumber(counts[i + 1]) + (more[counts[i]] or 0)
  local kept = scoreIn(names, name)
  if (kept or 0) ~= right or (kept and right == 0) then
    local outcome = ''
    if isRepairing == '1' then
      local isRepaired, fault = pcall(function()
        redis.call('ZREM', names, name)
        if right > 0 then redis.call('ZADD', names, formatInteger(right), name) end
      end)
      outcome = isRepaired and 'repaired' or messageOf(fault)
    end
    for _, word in ipairs({ name, formatInteger(kept or 0), formatInteger(right), outcome }) do wrong[#wrong + 1] = word end
  end
end
return { 'OK', wrong }
