-- Return the stored settings of a space; see storedSettings; false when it has none.
local function settingsText(base, space)
  return redis.call('HGET', base .. 'settings', space)
end

-- Return how long to keep a job that has ended with this status, in ms; 0 to keep it forever. The settings of the space override the
-- setting of the process.
--   settings   as returned by settingsText
local function retentionIn(settings, status)
  local completed, dead, killed = string.match(settings or '- - - ', '^(%S+) (%S+) (%S+) ')
  return tonumber(status == 'completed' and completed or status == 'dead' and dead or killed) or RETENTION_MS
end

-- Return the maximum number of pending jobs in a space; nil for no limit.
local function maxPendingIn(settings)
  return tonumber(string.match(settings or '', '^%S+ %S+ %S+ (%S+) '))
end

-- Return the maximum number of bytes for the jobs of a space, as text; nil for no limit.
local function maxBytesIn(settings)
  return string.match(settings or '', '^%S+ %S+ %S+ %S+ (%d+) ')
end
