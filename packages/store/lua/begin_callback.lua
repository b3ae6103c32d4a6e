-- KEYS job
-- ARGV base jobId round leaseMs
--
-- Take the next attempt at a callback: for `leaseMs` nobody else gets it.
-- Returns {'OK', now in ms, attempt from 1, {space, name, status, attempt of the job, url, headers, result, error,
-- updatedAt}}; {'NOT_DUE', ms to wait}; {'NOT_OWED'}.
-- @include clock job callback
local found = loadJob(job, base, jobId)
local now = nowMs()
local callback = found.status and loadCallback(found, round, now)
if not callback then return { 'NOT_OWED' } end
if callback.wait > 0 then return { 'NOT_DUE', callback.wait } end

putOff(found, now + tonumber(leaseMs))
redis.call('HSET', job, 'callbackLeasedUntil', digits(now + tonumber(leaseMs)))
local told = redis.call('HMGET', job, 'space', 'name', 'status', 'attempt', 'callbackUrl', 'callbackHeaders', 'result', 'error', 'updatedAt')
return { 'OK', digits(now), callback.attempts + 1, told }
