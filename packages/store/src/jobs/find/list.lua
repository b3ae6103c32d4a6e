-- KEYS jobs
-- ARGV base space order min max offset limit most budget statuses tags nameCount namesAndFields...
-- REPLY OK reached rows?[]...
--
-- Read a page of a space's jobs in creation order, or the start of the page when it is long. A job has the same score in each
-- index, so a page that begins after `reached` repeats no job and misses none, whatever has changed since.
--   order     `asc` or `desc`
--   min, max  bounds of the creation order, as ZRANGEBYSCORE takes them
--   offset    number of jobs to skip from the newest, only with `desc` and at most one status; 0 for none
--   limit, most, budget   stop after this number of rows, of entries, or of bytes of records, so that Redis is not busy for long
--   statuses  separated by blanks; '' for any
--   tags      separated by newlines; '' for any
--   namesAndFields   `nameCount` job names, none for any; then names of fields of the record
--   reached   creation order of the last entry examined; '' after the last entry of the indexes
--   rows      ID and fields of each job; an entry whose record is gone is skipped
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
