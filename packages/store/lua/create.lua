-- KEYS job
-- ARGV base jobId space name deadline fields...
--
-- Create a pending job at the end of its space's queues. Refused by Redis when memory is full.
--   base     'ym:{pp}:', the partition every key below shares
--   deadline see isTooLate
--   fields   further fields of the record, name and value in turn; those that have their default value are left out
-- Returns {'TOO_LATE'}, or {'OK', order}: the creation time in ms is floor(order / 1024).
-- @include clock order queue publish
local now, at, micros = nowMs()
if isTooLate(now, deadline) then return { 'TOO_LATE' } end
-- Orders of 1/1024 ms distinguish the moments of Redis, so the last one of the space hardly ever has to be asked for.
local moment = now * 1024 + math.floor(micros % 1000 * 1.024)
local order = nextOrder(base, space, moment)
local created = { key = job, base = base, id = jobId, space = space, name = name }

redis.call('HSET', job, 'status', 'pending', 'space', space, 'name', name, 'order', order, unpack(fields))
redis.call('ZADD', base .. 'space:' .. space .. '/jobs', order, jobId)
redis.call('ZADD', base .. 'space:' .. space .. '/status/pending', order, jobId)
redis.call('ZINCRBY', base .. 'space:' .. space .. '/names', '1', name) -- a number would be printed, which takes its time
enqueue(created, order)
publish(created, '1', 'created', 'pending', digits(math.floor(order / 1024)), 'null')
return { 'OK', order }
