-- Tags of a job are one field of its record, with a newline in between, because they contain no control characters.

-- Return the key of the index of a tag: the jobs of a space that have it, at their places by creation.
local function tagIndex(job, tag)
  return job.base .. 'space:' .. job.space .. '/tag/' .. tag
end

-- Enter a job in the index of each of its tags.
local function enterTags(job)
  for tag in string.gmatch(option(job, 't', 'tags') or '', '[^\n]+') do enter(tagIndex(job, tag), job.order, job.id) end
end

-- Remove a job from the index of each of its tags.
local function leaveTags(job)
  for tag in string.gmatch(option(job, 't', 'tags') or '', '[^\n]+') do leave(tagIndex(job, tag), job.id) end
end

-- Check whether a job has all of the wanted tags.
--   tags     field of its record, as Redis returns it
--   wanted   with a newline in between; '' for none
local function hasTags(tags, wanted)
  local all = '\n' .. (tags or '') .. '\n'
  for tag in string.gmatch(wanted, '[^\n]+') do
    if not string.find(all, '\n' .. tag .. '\n', 1, true) then return false end
  end
  return true
end
