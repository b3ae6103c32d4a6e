-- KEYS base
-- ARGV jobId series leaseMs longestWaitMs
-- REPLY OK nowMs:number attempt:number lease fields?[]
-- REPLY NOT_DUE waitMs:number
-- REPLY NOT_PENDING
--
-- Start the next attempt at a callback, and lease the callback to the calling scheduler for `leaseMs`. NOT_PENDING can also mean
-- that a new series has begun.
--   longestWaitMs  maximum waitMs while another scheduler makes an attempt, which may end before its lease
--   attempt        number of the attempt, from 1
--   lease          end of the lease, epoch ms
--   fields         state, callbackUrl, callbackHeaders, result, error and killReason of the record
local job = loadJob(base, jobId)
local callback = loadCallback(job)
if not callback or callback.series ~= tonumber(series) then return { 'NOT_PENDING' } end
local nowMs, nowText = now()
if callback.leasedUntil > nowMs then return { 'NOT_DUE', math.min(callback.leasedUntil - nowMs, tonumber(longestWaitMs)) } end
if callback.due > nowMs then return { 'NOT_DUE', callback.due - nowMs } end

local lease = nowMs + tonumber(leaseMs)
postpone(job, lease)
redis.call('HSET', job.key, 'callbackLeasedUntil', formatInteger(lease))
local fields = redis.call('HMGET', job.key, 'state', 'callbackUrl', 'callbackHeaders', 'result', 'error', 'killReason')
return { 'OK', nowText, callback.attempts + 1, formatInteger(lease), fields }
