-- Read the clock of Redis, the only clock that decides about jobs. Return epoch ms; the same as text, so that no script formats
-- it twice; and the microseconds within the second.
local function now()
  local time = redis.call('TIME')
  local ms = math.floor(time[2] / 1000)
  return time[1] * 1000 + ms, time[1] .. string.format('%03d', ms), time[2]
end

-- Check whether the time of a call is up. Its caller then gets an error that promises that nothing was done. `notAfter` is epoch
-- ms, or '' for no limit. The comparison is between texts: both have 13 digits until the year 2286.
local function isTooLate(nowText, notAfter)
  return notAfter ~= '' and nowText > notAfter
end

-- Convert a delay to epoch ms; nil when it is not in the future.
--   delay   '<ms>' for epoch ms, '+<ms>' for ms from now, '' for no delay
local function timeOf(delay, nowMs)
  local ms = tonumber(delay)
  if not ms then return nil end
  local at = string.sub(delay, 1, 1) == '+' and nowMs + ms or ms
  return at > nowMs and at or nil
end

-- Convert a text to a number. A group remembers the result.
local function numberOf(text)
  local number = batch and batch.numbers[text]
  if number then return number end
  number = tonumber(text)
  if batch then batch.numbers[text] = number end
  return number
end

-- Format a whole number in full; '..' alone would give 1.8e+15. It must fit in a C long of 64 bits; see checkServer.
local function formatInteger(number)
  if batch and batch.texts[number] then return batch.texts[number] end
  local text = string.format('%d', number)
  if batch then batch.texts[number] = text end
  return text
end

-- Format epoch ms as a JSON string: ISO 8601 in UTC, with milliseconds. Days are counted from March 1 of the year 0, so that a
-- leap day is the last day of its year.
local function isoText(ms)
  local days, ofDay = math.floor(ms / 86400000) + 719468, ms % 86400000
  local era, dayOfEra = math.floor(days / 146097), days % 146097
  local year = math.floor((dayOfEra - math.floor(dayOfEra / 1460) + math.floor(dayOfEra / 36524) - math.floor(dayOfEra / 146096)) / 365)
  local dayOfYear = dayOfEra - (365 * year + math.floor(year / 4) - math.floor(year / 100))
  local month = math.floor((5 * dayOfYear + 2) / 153)
  local day = dayOfYear - math.floor((153 * month + 2) / 5) + 1
  local isNextYear = month >= 10
  return string.format('"%04.0f-%02.0f-%02.0fT%02.0f:%02.0f:%02.0f.%03.0fZ"', year + era * 400 + (isNextYear and 1 or 0),
    isNextYear and month - 9 or month + 3, day, math.floor(ofDay / 3600000), math.floor(ofDay / 60000) % 60, math.floor(ofDay / 1000) % 60, ofDay % 1000)
end
