-- KEYS names
-- ARGV base space first limit requested...
-- REPLY OK at:number counts:number[] oldest known:number rows[] paused[]
--
-- Count the jobs of a space, by status and by name, as of one moment. With 100 names it takes Redis some 0.6 ms.
--   names    the space's /names
--   base     prefix of every key of its partition
--   space    prefix of every key of the space, with its `/`
--   first, limit   names from this place on, those with most jobs first, and how many of them; 0 for none
--   requested   in place of those: these names, at most 100
--   at       now, epoch ms
--   counts   jobs by status, in the order of a job's life, then all
--   oldest   claim order of the next job to be claimed, or that would be but for a pause; '' for none
--   known    number of names
--   paused   fields of the space's /paused
--   rows     name, its jobs, those pending, order of the oldest of these or '', …

-- Return the pending jobs of a queue, the claim order of its head, and the place of its head.
local function waiting(queue)
  local pending = redis.call('ZCARD', queue)
  if pending == 0 then return 0, '', nil end
  local head = redis.call('ZRANGE', queue, 0, 0, 'WITHSCORES')
  local order = claimOrder(head[2], redis.call('HGET', base .. 'job:' .. head[1], 'priority'))
  return pending, order, { score = tonumber(head[2]), id = head[1] }
end

local counts = {}
for i, status in ipairs(STATUSES) do counts[i] = redis.call('ZCARD', space .. 'status/' .. status) end
counts[#STATUSES + 1] = redis.call('ZCARD', space .. 'jobs')
local _, oldest, next = waiting(space .. 'queue')
-- Jobs of a paused name may stand in the queue of their name only.
local paused = redis.call('HGETALL', space .. 'paused')
for i = 1, #paused, 2 do
  local _, first, at = waiting(space .. 'queue/' .. paused[i])
  local isBefore = at and (not next or at.score < next.score or (at.score == next.score and at.id < next.id))
  if isBefore then oldest, next = first, at end
end

local listed = {}
for i, name in ipairs(requested) do
  listed[2 * i - 1], listed[2 * i] = name, redis.call('ZSCORE', names, name) or '0'
end
if #requested == 0 and limit ~= '0' then listed = redis.call('ZREVRANGE', names, first, first + limit - 1, 'WITHSCORES') end

local rows = {}
for i = 1, #listed, 2 do
  local pending, first = 0, ''
  if oldest ~= '' then pending, first = waiting(space .. 'queue/' .. listed[i]) end
  local n = #rows
  rows[n + 1], rows[n + 2], rows[n + 3], rows[n + 4] = listed[i], listed[i + 1], pending, first
end
return { 'OK', formatInteger(now()), counts, oldest, redis.call('ZCARD', names), rows, paused }
