-- What is found wrong, flat: kind, key, detail, and what came of mending it: '' when nothing was tried, 'mended', or what
-- Redis said to it. Mending waits until all has been looked at, and begins with the removals: once a script has removed
-- something, a full Redis lets the rest of it pass.
local function findings()
  return { flat = {}, removals = {}, additions = {} }
end

-- Note a fault. `mendBy` is one of the two lists, `mend` what puts it right; none for what is left as it is.
local function find(found, kind, key, detail, mendBy, mend)
  local flat = found.flat
  for _, word in ipairs({ kind, key, detail, '' }) do flat[#flat + 1] = word end
  if mend then mendBy[#mendBy + 1] = { outcomeAt = #flat, run = mend } end
end

-- What an error says: a text, or from Redis 7 on a table.
local function saying(fault)
  return type(fault) == 'table' and fault.err or tostring(fault)
end

-- Put right what can be. One that fails keeps no other from being mended.
local function mendAll(found)
  for _, fixes in ipairs({ found.removals, found.additions }) do
    for _, fix in ipairs(fixes) do
      local isMended, fault = pcall(fix.run)
      found.flat[fix.outcomeAt] = isMended and 'mended' or saying(fault)
    end
  end
end
