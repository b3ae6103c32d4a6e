-- Read Redis' own clock, the only clock that decides about jobs. Return three values: milliseconds as a float, because
-- Lua 5.3 integers may wrap; the same as text, so that no script prints it twice; and the microseconds of the second.
local function now()
  local time = redis.call('TIME')
  local ms = math.floor(time[2] / 1000)
  return time[1] * 1000.0 + ms, time[1] .. string.format('%03d', ms), time[2]
end

-- Check whether it is too late for a call, after which its caller gets an error which means that nothing was
-- done. `notAfter` is epoch ms, or '' for none.
local function isTooLate(nowMs, notAfter)
  return notAfter ~= '' and nowMs > tonumber(notAfter)
end

-- Print a whole number in full; '..' alone would print 1.8e+15. A time or an order is printed in two halves, because
-- '%.0f' takes twice as long. '%d' of the whole number is too large for the integers of some Lua 5.3.
local function formatInteger(number)
  if number < 1e8 or number > 2 ^ 53 then return string.format('%.0f', number) end
  local low = number % 1e8
  return string.format('%d%08d', (number - low) / 1e8, low)
end
