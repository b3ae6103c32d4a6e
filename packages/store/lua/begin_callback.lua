-- KEYS job
-- ARGV base jobId round leaseMs patienceMs
--
-- Take the next attempt at a callback: for `leaseMs` no other scheduler gets it.
--   patienceMs    longest time to stay away while another scheduler makes an attempt, which may be over sooner
-- Returns {'OK', now in ms, attempt from 1, end of the lease in ms, {space, name, status, attempt of the job, url,
-- headers, result, error, updatedAt}}; {'NOT_DUE', ms to wait}; {'NOT_OWED'}, also when it is another round's by now.
-- @include clock job callback
local found = loadJob(job, base, jobId)
local callback = loadCallback(found)
if not callback or callback.round ~= tonumber(round) then return { 'NOT_OWED' } end
local now, at = nowMs()
if callback.leasedUntil > now then return { 'NOT_DUE', math.min(callback.leasedUntil - now, tonumber(patienceMs)) } end
if callback.due > now then return { 'NOT_DUE', callback.due - now } end

local lease = now + tonumber(leaseMs)
putOff(found, lease)
redis.call('HSET', job, 'callbackLeasedUntil', digits(lease))
local told = redis.call('HMGET', job, 'space', 'name', 'status', 'attempt', 'callbackUrl', 'callbackHeaders', 'result', 'error', 'updatedAt')
return { 'OK', at, callback.attempts + 1, digits(lease), told }
