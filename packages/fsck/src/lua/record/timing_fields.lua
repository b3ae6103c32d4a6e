-- Bounds of the fields of a record that say when, how often and for how long a job may run, see LIMITS of the protocol.
local LONGEST_DELAY_SECONDS = 604800
local MOST_DELAYS = 20
local LARGEST_FACTOR = 10
local LONGEST_RUN_SECONDS = 604800
local LONGEST_START_SECONDS = 31622400
local LARGEST_PRIORITY = 604800

-- Read a number as JavaScript prints it; nil for another text, or a number that is not within these bounds.
local function numberIn(text, least, most)
  local number = string.find(text, '^%d[%d.e+-]*$') and tonumber(text)
  return number and number >= least and number <= most and number or nil
end

-- Check a time limit in seconds. `by` is the time at which it is over, another field of the record that needs it.
local function isLimit(seconds, by, longest)
  if not seconds then return not by end
  return (numberIn(seconds, 0, longest) or 0) > 0
end

-- Check whether a head start can be one. That of 0 is left out.
local function isPriority(priority)
  return string.find(priority, '^%-?[1-9]%d*$') ~= nil and math.abs(tonumber(priority)) <= LARGEST_PRIORITY
end

-- Check whether the field `retry` has all its parts: `<delays> <factor> <maxDelaySeconds> <jitter>`. A list of delays
-- has no factor.
local function isRetry(retry)
  local delays, factor, longest, jitter = string.match(retry, '^(%S+) (%S+) (%S+) (%S+)$')
  if not delays then return false end
  local count = 0
  for delay in string.gmatch(delays .. ',', '([^,]*),') do
    if not numberIn(delay, 0, LONGEST_DELAY_SECONDS) then return false end
    count = count + 1
  end
  local largestFactor = count == 1 and LARGEST_FACTOR or 1
  return count <= MOST_DELAYS and numberIn(factor, 1, largestFactor) and numberIn(longest, 0, LONGEST_DELAY_SECONDS) and numberIn(jitter, 0, 1)
end

-- Check these fields of a record. Return whether the places of the job in its queues follow from it.
--   check   notes a field as broken unless it is right, and returns whether it is; see checkedRecord
local function checkTiming(check, r)
  check('retry', not r.retry or isRetry(r.retry))
  check('maxRunSeconds', isLimit(r.maxRunSeconds, r.runBy, LONGEST_RUN_SECONDS))
  check('startWithinSeconds', isLimit(r.startWithinSeconds, r.startBy, LONGEST_START_SECONDS))
  return check('priority', not r.priority or isPriority(r.priority))
end
