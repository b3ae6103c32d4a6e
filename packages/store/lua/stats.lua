-- KEYS names
-- ARGV space limit asked...
--
-- Count the jobs of a space, by status and by name, as of one moment.
--   names    the space's /names
--   space    what every key of the space starts with, its `/` included
--   limit    names at most, those with most jobs; at most 1 000, whose 3 000 commands take Redis some 2 ms
--   asked    in place of those: these names, at most 100
-- Returns {'OK', now in ms, {jobs by status, in the order of a job's life, then all}, order of the oldest pending,
-- number of names, {name, its jobs, those pending, order of the oldest of these, …}}, an order '' when none is pending.
-- @include clock job
-- Pending jobs of a queue, and the order of its head.
local function waiting(queue)
  local pending = redis.call('ZCARD', queue)
  return pending, pending > 0 and redis.call('ZRANGE', queue, 0, 0, 'WITHSCORES')[2] or ''
end

local counts = {}
for i, status in ipairs({ 'pending', 'delivered', 'running', 'completed', 'dead', 'killed' }) do
  counts[i] = redis.call('ZCARD', space .. 'status/' .. status)
end
counts[7] = redis.call('ZCARD', space .. 'jobs')
local all, oldest = waiting(space .. 'queue')

local listed = {}
for i, name in ipairs(asked) do
  listed[2 * i - 1], listed[2 * i] = name, stored(redis.call('ZSCORE', names, name)) or '0'
end
if #asked == 0 then listed = redis.call('ZREVRANGE', names, 0, tonumber(limit) - 1, 'WITHSCORES') end

local rows = {}
for i = 1, #listed, 2 do
  local pending, first = 0, ''
  if all > 0 then pending, first = waiting(space .. 'queue/' .. listed[i]) end
  local at = #rows
  rows[at + 1], rows[at + 2], rows[at + 3], rows[at + 4] = listed[i], listed[i + 1], pending, first
end
return { 'OK', digits(nowMs()), { unpack(counts) }, oldest, redis.call('ZCARD', names), { unpack(rows) } } -- see list.lua
