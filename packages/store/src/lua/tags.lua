-- The tags of a job are one field of its record, separated by newlines, because a tag contains no control characters. A label
-- starts with one; see jobs/labels.ts.

-- Return the key of the index of a tag: the jobs of a space with this tag, by creation order.
local function tagIndex(job, tag)
  return job.base .. 'space:' .. job.space .. '/tag/' .. tag
end

-- Add a job to the index of each of its tags.
local function enterTags(job)
  for tag in string.gmatch(option(job, 't', 'tags') or '', '[^\n]+') do enter(tagIndex(job, tag), job.order, job.id) end
end

-- Remove a job from the index of each of its tags.
local function leaveTags(job)
  for tag in string.gmatch(option(job, 't', 'tags') or '', '[^\n]+') do leave(tagIndex(job, tag), job.id) end
end

-- Check whether a job has all of the wanted tags.
--   tags     field of the record, as Redis returns it
--   wanted   separated by newlines; '' for none
local function hasTags(tags, wanted)
  local all = '\n' .. (tags or '') .. '\n'
  for tag in string.gmatch(wanted, '[^\n]+') do
    if not string.find(all, '\n' .. tag .. '\n', 1, true) then return false end
  end
  return true
end

-- Remove the labels from the field `tags` of a record; nil if nothing is left. They come after the tags.
local function withoutLabels(tags)
  if not string.find(tags, '\1', 1, true) then return tags end
  local kept = string.gsub(tags, '\n?\1.*$', '')
  return kept ~= '' and kept or nil
end
