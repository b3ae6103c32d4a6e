-- The flags of a state; see state.lua.

local function has(job, flag)
  return string.find(job.flags, flag, 1, true) ~= nil
end

-- Return a field of the record that exists only with this flag; nil without the flag. The field is read once.
local function option(job, flag, field)
  if job[field] == nil then job[field] = has(job, flag) and redis.call('HGET', job.key, field) or false end
  return job[field] or nil
end

local function setFlag(job, flag)
  if not has(job, flag) then job.flags = job.flags .. flag end
end

local function clearFlags(job, flags)
  job.flags = string.gsub(job.flags, '[' .. flags .. ']', '')
end
