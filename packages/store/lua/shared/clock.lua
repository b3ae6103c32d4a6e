-- Redis' own clock in milliseconds: the only clock that jobs know. A float, since Lua 5.3 integers may wrap.
local function nowMs()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000.0 + math.floor(tonumber(time[2]) / 1000)
end

-- A whole number in full; '..' alone would print 1.8e+15.
local function digits(number)
  return string.format('%.0f', number)
end
