-- What is found wrong, flat: kind, key, detail, and how the repair went: '' when nothing was tried, 'repaired', or what
-- Redis said to it. Repairs wait until all has been looked at, and begin with the removals: once a script has removed
-- something, a full Redis lets the rest of it pass.
local function findings()
  return { flat = {}, removals = {}, additions = {} }
end

-- Note a fault. `repairBy` is one of the two lists, `repair` what puts it right; none for what is left as it is.
local function find(found, kind, key, detail, repairBy, repair)
  local flat = found.flat
  for _, word in ipairs({ kind, key, detail, '' }) do flat[#flat + 1] = word end
  if repair then repairBy[#repairBy + 1] = { outcomeAt = #flat, run = repair } end
end

-- What an error says: a text, or from Redis 7 on a table.
local function saying(fault)
  return type(fault) == 'table' and fault.err or tostring(fault)
end

-- Put right what can be. One that fails does not stop the others.
local function repairAll(found)
  for _, fixes in ipairs({ found.removals, found.additions }) do
    for _, fix in ipairs(fixes) do
      local isRepaired, fault = pcall(fix.run)
      found.flat[fix.outcomeAt] = isRepaired and 'repaired' or saying(fault)
    end
  end
end
