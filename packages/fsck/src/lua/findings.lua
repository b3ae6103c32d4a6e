-- Create an empty, flat list of faults: kind, key, detail, outcome. The outcome of a repair is '' if none was tried, 'repaired',
-- or the error from Redis. Repairs run after all checks and start with the removals, because a full Redis accepts the writes
-- after a removal.
local function findings()
  return { flat = {}, removals = {}, additions = {} }
end

-- Add a fault.
--   repairBy, repair   list of repairs and function that repairs the fault; nil for a fault that cannot be repaired
local function find(found, kind, key, detail, repairBy, repair)
  local flat = found.flat
  for _, word in ipairs({ kind, key, detail, '' }) do flat[#flat + 1] = word end
  if repair then repairBy[#repairBy + 1] = { outcomeAt = #flat, run = repair } end
end

-- Return the message of an error, which is a text, or a table since Redis 7.
local function messageOf(fault)
  return type(fault) == 'table' and fault.err or tostring(fault)
end

-- Run all repairs. A failed repair does not stop the others.
local function repairAll(found)
  for _, fixes in ipairs({ found.removals, found.additions }) do
    for _, fix in ipairs(fixes) do
      local isRepaired, fault = pcall(fix.run)
      found.flat[fix.outcomeAt] = isRepaired and 'repaired' or messageOf(fault)
    end
  end
end
