-- KEYS names
-- ARGV base space isRepairing afterOrder counted counts...
-- REPLY OK wrong[]
-- REPLY CHANGED
--
-- Compare name counts with those stored, in one snapshot. CHANGED means that a counted job is gone, or that many jobs were
-- created since.
--   names                 the space's /names
--   space                 ID of the space
--   isRepairing           '1' to store the correct counts, '0' to write nothing
--   afterOrder, counted   order of the job counted last, and number of counted jobs
--   counts                name, count, …; at most 50 pairs
--   wrong                 name, stored count, correct count, outcome, …; see findings for the outcome
local jobs = base .. 'space:' .. space .. '/jobs'
-- Jobs are added only at the end. If the total equals those counted plus those added since, none was removed.
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
