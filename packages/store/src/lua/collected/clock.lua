-- Result of now, once it is known: the clock stands still while a script runs.
local clock

-- Read the clock once, see now of scripts for one job.
local function now()
  if not clock then
    local time = redis.call('TIME')
    local ms = math.floor(time[2] / 1000)
    clock = { time[1] * 1000.0 + ms, time[1] .. string.format('%03d', ms), time[2] }
  end
  return clock[1], clock[2], clock[3]
end
