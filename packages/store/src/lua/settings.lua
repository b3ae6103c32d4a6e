-- Return the settings of a space as they are stored, see storedSettings; false or null when it has none.
local function settingsText(base, space)
  return redis.call('HGET', base .. 'settings', space)
end

-- Return how long a job stays that has ended with this status, in ms; 0 forever. The settings of its space come before the
-- setting of the process.
--   settings   as settingsText returns them
local function retentionIn(settings, status)
  local completed, dead, killed = string.match(settings or '- - - ', '^(%S+) (%S+) (%S+) ')
  return tonumber(status == 'completed' and completed or status == 'dead' and dead or killed) or RETENTION_MS
end

-- Return how many pending jobs a space may have; nil for any number.
local function maxPendingIn(settings)
  return tonumber(string.match(settings or '', '^%S+ %S+ %S+ (%S+) '))
end

-- Return how many bytes the jobs of a space may take, as text; nil for any number.
local function maxBytesIn(settings)
  return string.match(settings or '', '^%S+ %S+ %S+ %S+ (%d+) ')
end
