-- KEYS jobs
-- ARGV base space order min max offset limit most budget statuses tags nameCount namesAndFields...
-- REPLY OK reached rows?[]...
--
-- Read a page of a space's jobs by creation, or the start of it when it is long. A job has the same place in each index,
-- so that a page that begins behind `reached` has no job twice and misses none, whatever happens in between.
--   order     `asc` or `desc`
--   min, max  places between which to read, as ZRANGEBYSCORE takes them
--   offset    jobs to skip from the newest, only with `desc` and at most one status; 0 for none
--   limit     rows after which to stop; most: entries; budget: bytes of records. So Redis is not busy for long
--   statuses  with blanks in between, tags: with a newline in between; '' for any
--   namesAndFields   names of jobs, nameCount of them, 0 for any; and fields of the record
--   reached   place of the last entry examined, when others follow it; otherwise ''
--   rows      the id and the fields of each job; an entry whose record is gone is left out
local indexes = indexesFor(base .. 'space:' .. space .. '/', statuses, tags)
if tonumber(offset) > 0 then
  local first = redis.call('ZREVRANGE', indexes[1], offset, offset, 'WITHSCORES')
  if not first[2] then return { 'OK', '' } end
  max = first[2]
end
limit, most, budget, nameCount = tonumber(limit), tonumber(most), tonumber(budget), tonumber(nameCount)
local placeOf, ids = entriesOf(indexes, order, min, max, most + 1)
local passes, fieldCount = filterBy(statuses, tags, { unpack(namesAndFields, 1, nameCount) }), #namesAndFields - nameCount

local rows, bytes, at = {}, 0, 1
while at <= most and ids[at] and #rows < limit and bytes <= budget do
  local key = base .. 'job:' .. ids[at]
  local values = passes(key) and redis.call('HMGET', key, unpack(namesAndFields, nameCount + 1))
  if values and type(values[1]) == 'string' then
    rows[#rows + 1] = { ids[at], unpack(values, 1, fieldCount) }
    for i = 1, fieldCount do
      if type(values[i]) == 'string' then bytes = bytes + #values[i] end
    end
  end
  at = at + 1
end
return { 'OK', ids[at] and placeOf(at - 1) or '', unpack(rows) }
