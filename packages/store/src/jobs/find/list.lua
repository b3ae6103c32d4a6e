-- KEYS jobs
-- ARGV base space order min max offset limit most budget statuses tags fields names...
-- REPLY OK reached hasMore:number rows?[]...
--
-- Read a page of a space's jobs by creation, or the start of it when it is long. A job has the same place in each index,
-- so that a page that begins behind `reached` has no job twice and misses none, whatever happens in between.
--   order     `asc` or `desc`
--   min, max  places between which to read, as ZRANGEBYSCORE takes them
--   offset    jobs to skip from the newest, only with `desc` and at most one status; 0 for none
--   limit     rows after which to stop; most: entries; budget: bytes of records. So Redis is not busy for long
--   statuses  with blanks in between, tags: with a newline in between, names: jobs to read; '' and none for any
--   fields    of the record, with blanks in between
--   reached   place of the last entry examined; '' for none. hasMore: 1 when entries follow it
--   rows      the id and the fields of each job; an entry whose record is gone is left out
local indexes = indexesFor(base .. 'space:' .. space .. '/', statuses, tags)
if tonumber(offset) > 0 then
  local first = redis.call('ZREVRANGE', indexes[1], offset, offset, 'WITHSCORES')
  if not first[2] then return { 'OK', '', 0 } end
  max = first[2]
end
limit, most, budget = tonumber(limit), tonumber(most), tonumber(budget)
local entries = entriesOf(indexes, order, min, max, most + 1)
local passes, read = filterBy(statuses, tags, names), {}
for field in string.gmatch(fields, '%S+') do read[#read + 1] = field end

local rows, bytes, at = {}, 0, 1
while at < 2 * most and entries[at] and #rows < limit and bytes <= budget do
  local key = base .. 'job:' .. entries[at]
  local values = passes(key) and redis.call('HMGET', key, unpack(read))
  if values and type(values[1]) == 'string' then
    rows[#rows + 1] = { entries[at], unpack(values, 1, #read) }
    for i = 1, #read do
      if type(values[i]) == 'string' then bytes = bytes + #values[i] end
    end
  end
  at = at + 2
end
-- A table constructor, and not a table that grew: ioredis-mock returns only the former as an array.
return { 'OK', entries[at - 1] or '', entries[at] and 1 or 0, unpack(rows) }
