-- KEYS base
-- ARGV jobId space direction bound most budget
-- REPLY OK dropped:number newestSeq:number lists[]...
-- ERRORS JOB_NOT_FOUND FORBIDDEN
--
-- Read a portion of a job's logs: the oldest entries after a seq, or the newest before it.
--   direction   'after' or 'before'
--   bound       the seq
--   most        maximum number of entries, at most 1,000
--   budget      stop after this many bytes of entries, so that Redis is not busy for long
--   dropped     number of oldest entries that were dropped
--   lists       lists of entries in the order in which they were read, each ascending
local job, refusal, logsDropped = openJob(base, space, jobId, 'logsDropped')
if refusal then return refusal end

local logs = job.key .. ':logs'
local dropped = tonumber(logsDropped or 0)
local length = redis.call('LLEN', logs)
-- Positions in the list, from 0, of the entries that remain to be read.
local first, last = 0, length - 1
if direction == 'after' then first = math.max(0, tonumber(bound) - dropped)
else last = math.min(last, tonumber(bound) - dropped - 2) end

local lists, bytes, left = {}, 0, tonumber(most)
while first <= last and left > 0 and bytes <= tonumber(budget) do
  local count = math.min(20, left, last - first + 1)
  local from = direction == 'after' and first or last - count + 1
  local list = redis.call('LRANGE', logs, formatInteger(from), formatInteger(from + count - 1))
  for i = 1, #list do bytes = bytes + #list[i] end
  if direction == 'after' then first = first + count else last = last - count end
  left = left - count
  lists[#lists + 1] = list
end
return { 'OK', dropped, dropped + length, unpack(lists) }
