-- Settings of spaces that were read, by space.
local knownSettings = {}

-- Read the settings of a space once, see settingsText of scripts for one job.
local function settingsText(base, space)
  if knownSettings[space] == nil then knownSettings[space] = redis.call('HGET', base .. 'settings', space) or false end
  return knownSettings[space]
end
