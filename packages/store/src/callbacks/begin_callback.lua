-- KEYS base
-- ARGV jobId series leaseMs longestWaitMs
-- REPLY OK nowMs:number attempt:number lease fields?[]
-- REPLY NOT_DUE waitMs:number
-- REPLY NOT_PENDING
--
-- Begin the next attempt at a callback: for `leaseMs` no other scheduler gets it.
--   longestWaitMs  longest waitMs while another scheduler makes an attempt, which may be over sooner
--   attempt        number of the attempt, from 1
--   lease          end of the lease in ms
--   fields         state, callbackUrl, callbackHeaders, result, error and killReason of the record
-- NOT_PENDING also when the callback is in another series by now.
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
