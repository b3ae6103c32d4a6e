-- Make an empty, flat list of faults: kind, key, detail, outcome. The outcome of a repair is '' when nothing was tried,
-- 'repaired', or the error of Redis. Repairs wait until all has been checked, and begin with the removals. Once a
-- script has removed something, a full Redis lets the rest of it pass.
local function findings()
  return { flat = {}, removals = {}, additions = {} }
end

-- Note a fault. `repairBy` is one of the two lists, `repair` the function that repairs it; nil for a fault that cannot
-- be repaired.
local function find(found, kind, key, detail, repairBy, repair)
  local flat = found.flat
  for _, word in ipairs({ kind, key, detail, '' }) do flat[#flat + 1] = word end
  if repair then repairBy[#repairBy + 1] = { outcomeAt = #flat, run = repair } end
end

-- Return the message of an error: a text, or from Redis 7 on a table.
local function messageOf(fault)
  return type(fault) == 'table' and fault.err or tostring(fault)
end

-- Run all repairs. One that fails does not stop the others.
local function repairAll(found)
  for _, fixes in ipairs({ found.removals, found.additions }) do
    for _, fix in ipairs(fixes) do
      local isRepaired, fault = pcall(fix.run)
      found.flat[fix.outcomeAt] = isRepaired and 'repaired' or messageOf(fault)
    end
  end
end
