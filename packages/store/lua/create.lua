-- KEYS job
-- ARGV base jobId space name maxRetries timeoutSeconds payload callbackUrl callbackHeaders
--
-- Create a pending job at the end of its space's queues. Refused by Redis when memory is full.
--   base    'ym:{pp}:', the partition every key below shares
--   payload, callbackHeaders    JSON text, '' for null
--   callbackUrl                 '' for null
-- Returns {'OK', order}: the creation time in ms is floor(order / 1024).
-- @include clock order queue publish
local now = nowMs()
local order = nextOrder(base, space, now)
local created = { key = job, base = base, id = jobId, space = space, name = name }

redis.call('HSET', job, 'status', 'pending', 'space', space, 'name', name, 'order', order)
-- A field less is 60 bytes less, on every job. See loadJob for what an absent one means.
if maxRetries ~= '3' then redis.call('HSET', job, 'maxRetries', maxRetries) end
if timeoutSeconds ~= '300' then redis.call('HSET', job, 'timeoutSeconds', timeoutSeconds) end
if payload ~= '' then redis.call('HSET', job, 'payload', payload) end
if callbackUrl ~= '' then redis.call('HSET', job, 'callbackUrl', callbackUrl) end
if callbackHeaders ~= '' then redis.call('HSET', job, 'callbackHeaders', callbackHeaders) end

redis.call('ZADD', base .. 'space:' .. space .. '/jobs', order, jobId)
redis.call('ZADD', base .. 'space:' .. space .. '/status/pending', order, jobId)
redis.call('ZINCRBY', base .. 'space:' .. space .. '/names', 1, name)
enqueue(created, order)
publish(created, 1, 'created', 'pending', math.floor(tonumber(order) / 1024), 'null')
return { 'OK', order }
