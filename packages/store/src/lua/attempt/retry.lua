-- Return the n-th random number after this one. Multiples of the golden ratio are spread evenly.
local function nextRandom(random, n)
  return (random + n * 0.6180339887498949) % 1
end

-- Return the backoff after an attempt, in ms.
--   retry    `<delays> <factor> <maxDelaySeconds> <jitter>`; see storedRetryOf
--   random   at least 0 and less than 1. The caller draws it, because Redis seeds math.random identically for every script
local function retryDelayMs(retry, attempt, random)
  local delays, factor, longest, jitter = string.match(retry, '^(%S+) (%S+) (%S+) (%S+)$')
  local seconds, n = 0, 0
  for delay in string.gmatch(delays, '[^,]+') do
    if n < tonumber(attempt) then seconds, n = delay, n + 1 end
  end
  seconds = seconds * factor ^ (attempt - 1) * (1 - jitter + 2 * jitter * random)
  return math.ceil(math.min(seconds, tonumber(longest)) * 1000)
end
