-- KEYS jobKey
-- ARGV base jobId space name notAfter options fields...
-- REPLY OK order
-- ERRORS TOO_LATE
--
-- Create a pending job at the end of its space's queues. Redis refuses it when memory is full. It does not call addJob,
-- which does the same for create_full.lua, because the call costs each create 1.5% more.
--   base      'ym:{pp}:', the partition that every key below shares
--   notAfter  see isTooLate
--   options   see addJob
--   fields    further fields of the record, name and value in turn
--   order     place of the job in its space; floor(order / 1024) is the creation time in ms
local nowMs, _, micros = now()
if isTooLate(nowMs, notAfter) then return { 'TOO_LATE' } end
-- Orders of 1/1024 ms distinguish the moments of Redis, so the last order of the space is seldom needed.
local moment = nowMs * 1024 + math.floor(micros % 1000 * 1.024)
local order = nextOrder(base, space, moment)
local created = { key = jobKey, base = base, id = jobId, space = space, name = name, flags = '-' }

redis.call('HSET', jobKey, 'state', 'pending ' .. order .. ' 0 0 1 0 ' .. options, 'space', space, 'name', name, unpack(fields))
redis.call('ZADD', base .. 'space:' .. space .. '/jobs', order, jobId)
redis.call('ZADD', base .. 'space:' .. space .. '/status/pending', order, jobId)
redis.call('ZINCRBY', base .. 'space:' .. space .. '/names', '1', name) -- as text, because printing a number takes time
enqueue(created, order)
publishCreation(created, 'pending', order)
return { 'OK', order }
