-- KEYS job
-- ARGV keySpaceId portion
--
-- Read a job and the oldest `portion` entries of its history, as of one moment.
-- Returns {'OK', {field, value, …}, {event, …}, length of the history}; JOB_NOT_FOUND or FORBIDDEN.
local space = redis.call('HGET', job, 'space')
if not space then return { 'JOB_NOT_FOUND' } end
if keySpaceId ~= '' and keySpaceId ~= space then return { 'FORBIDDEN' } end
local history = job .. ':events'
return { 'OK', redis.call('HGETALL', job), redis.call('LRANGE', history, 0, tonumber(portion) - 1), redis.call('LLEN', history) }
