-- Bounds of the fields of a record that control when, how often and for how long a job can run; see LIMITS of the protocol.
local LONGEST_DELAY_SECONDS = 604800
local MOST_DELAYS = 20
local LARGEST_FACTOR = 10
local LONGEST_RUN_SECONDS = 604800
local LONGEST_START_SECONDS = 31622400
local LARGEST_PRIORITY = 604800

-- Parse a number as formatted by JavaScript; nil for any other text, or a number out of bounds.
local function numberIn(text, least, most)
  local number = string.find(text, '^%d[%d.e+-]*$') and tonumber(text)
  return number and number >= least and number <= most and number or nil
end

-- Check a time limit in seconds. `by` is the field with the time at which it ends, which requires the limit.
local function isLimit(seconds, by, longest)
  if not seconds then return not by end
  return (numberIn(seconds, 0, longest) or 0) > 0
end

-- Check that a priority is valid. A priority of 0 is not stored.
local function isPriority(priority)
  return string.find(priority, '^%-?[1-9]%d*$') ~= nil and math.abs(tonumber(priority)) <= LARGEST_PRIORITY
end

-- Check that the field `retry` is valid: `<delays> <factor> <maxDelaySeconds> <jitter>`. With several delays, the factor is 1.
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

-- Check these fields of a record. Return whether the record determines the score of the job in its queues.
--   check   reports a field as invalid unless it is right, and returns whether it is; see checkedRecord
local function checkTiming(check, r)
  check('retry', not r.retry or isRetry(r.retry))
  check('maxRunSeconds', isLimit(r.maxRunSeconds, r.runBy, LONGEST_RUN_SECONDS))
  check('startWithinSeconds', isLimit(r.startWithinSeconds, r.startBy, LONGEST_START_SECONDS))
  return check('priority', not r.priority or isPriority(r.priority))
end
